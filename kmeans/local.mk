# coll-kmeans and coll-words.
