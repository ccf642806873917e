# What scripts/fuzz runs, and the files that it found; tests/mpi/readers.c reads these too.
EXTRA_PROGRAMS = tests/fuzz/fuzz_readers
tests_fuzz_fuzz_readers_SOURCES = tests/fuzz/fuzz_readers.c tests/fuzz/reading.c tests/fuzz/reading.h
tests_fuzz_fuzz_readers_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
CLEANFILES += $(EXTRA_PROGRAMS)
EXTRA_DIST += tests/fuzz/corpus
