# Programs to learn from: built, not installed. They use the public library alone.
noinst_PROGRAMS = examples/first examples/wordcount
examples_first_LDADD = libcoll.la
examples_wordcount_LDADD = libcoll.la
