# Unit tests run as they are, *.sh as a user would; programs named *.mpi run under tests/support/launch at
# the rank counts that they name. Every test may link everything, internals included. The source of
# tests/mpi/NAME.mpi is tests/mpi/NAME.c, unless a fragment says otherwise.
TEST_EXTENSIONS = .mpi .sh
MPI_LOG_COMPILER = $(srcdir)/tests/support/launch
SH_LOG_COMPILER = bash
# OpenMP's threads sleep while they wait, because several tests run at the same time.
AM_TESTS_ENVIRONMENT = MPIRUN='$(MPIRUN)'; export MPIRUN; OMP_WAIT_POLICY=passive; export OMP_WAIT_POLICY;

AM_CFLAGS += $(CHECK_CFLAGS)
LDADD = libharness.la libpopcg.la libsurvey.la libwords.la libkmeans.la libkmeans_hdf5.la libapp.la \
	libcoll_core.la $(CHECK_LIBS)
# What libcoll allocates can fail (tests/support/allocations.h).
failing_allocations = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# What scripts/check-threads runs links only this, because it builds nothing else.
threads_ldadd = libharness.la libcoll_core.la $(CHECK_LIBS)

include tests/support/local.mk
include tests/unit/local.mk
include tests/mpi/local.mk
include tests/cli/local.mk
include tests/labs/local.mk
include tests/fuzz/local.mk
include tests/interposed/local.mk
include tests/component/local.mk
include tests/report/local.mk
include tests/watch/local.mk
# A graph of figure 1 of a paper, for tests and docs.
EXTRA_DIST += tests/hlot/figure1.txt tests/run-one

# Each kind of test by itself. Of the programs only those that run are built.
.PHONY: check-unit check-mpi check-cli check-labs
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(UNIT_TESTS)' check_PROGRAMS='$(UNIT_TESTS)'
check-mpi:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(MPI_TESTS)' check_PROGRAMS='$(MPI_TESTS)'
check-cli:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(CLI_TESTS)' check_PROGRAMS=
check-labs:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(LAB_TESTS)' check_PROGRAMS=

# All that scripts/check runs under AddressSanitizer.
.PHONY: check-sanitized
check-sanitized: $(check_PROGRAMS) $(check_LTLIBRARIES) $(INTERPOSED) $(lib_LTLIBRARIES) $(bin_SCRIPTS)

check_PROGRAMS += $(UNIT_TESTS) $(MPI_TESTS)
TESTS += $(UNIT_TESTS) $(MPI_TESTS) $(CLI_TESTS) $(LAB_TESTS)
