dist_man_MANS += man/coll.3 man/coll-kmeans.1 man/coll-words.1
dist_man_MANS += man/coll-bench.1 man/coll-hlot.1 man/coll-info.1 man/coll-popcg.1
dist_man_MANS += man/coll-profile.1 man/coll-run.1 man/coll-component.7
dist_man_MANS += man/coll-watch.1
