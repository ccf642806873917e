# Programs to learn from: built, not installed. They use the public library alone.
noinst_PROGRAMS = examples/first
examples_first_SOURCES = examples/first.c
examples_first_LDADD = libcoll.la
