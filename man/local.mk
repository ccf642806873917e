dist_man_MANS += man/coll.3
