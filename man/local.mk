dist_man_MANS += man/coll.3 man/coll-kmeans.1 man/coll-words.1
