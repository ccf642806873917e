# Programs that hang, for scripts/watch-errors and tests/cli/watch.sh.
if HAVE_PMPI
noinst_PROGRAMS += tests/watch/seeded
tests_watch_seeded_SOURCES = tests/watch/seeded.c tests/support/generator.h
tests_watch_seeded_LDADD =
noinst_PROGRAMS += tests/watch/partners
tests_watch_partners_LDADD =
endif
