# Unit tests run as they are, *.sh as a user would; programs named *.mpi run under tests/support/launch at
# the rank counts that they name. Every test may link everything, internals included. The source of
# tests/mpi/NAME.mpi is tests/mpi/NAME.c, unless a fragment says otherwise.
TEST_EXTENSIONS = .mpi .sh
MPI_LOG_COMPILER = $(srcdir)/tests/support/launch
SH_LOG_COMPILER = bash
AM_TESTS_ENVIRONMENT = MPIRUN='$(MPIRUN)'; export MPIRUN;

AM_CFLAGS += $(CHECK_CFLAGS)
LDADD = libharness.la libpopcg.la libsurvey.la libkmeans.la libwords.la libapp.la libcoll_core.la \
	$(CHECK_LIBS)
# What libcoll allocates can fail (tests/support/allocations.h).
failing_allocations = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_pool_LDFLAGS = $(failing_allocations)
tests_profile_SOURCES = tests/unit/profile.c tools/profile/benefit.c tools/profile/benefit.h
tests_aggregate_mpi_SOURCES = tests/mpi/aggregate.c
tests_aggregate_mpi_LDFLAGS = $(failing_allocations)
tests_aggregate_call_mpi_SOURCES = tests/mpi/aggregate_call.c
tests_agreement_mpi_SOURCES = tests/mpi/agreement.c
tests_agreement_mpi_LDADD = libbench.la $(LDADD)
tests_alike_mpi_SOURCES = tests/mpi/divergent_ranks.c
tests_bcast_mpi_SOURCES = tests/mpi/bcast.c
tests_checkpoint_mpi_SOURCES = tests/mpi/checkpoint.c
tests_coll_random_mpi_SOURCES = tests/mpi/coll_random.c tests/support/open_requests.c tests/support/open_requests.h
tests_dcp_mpi_SOURCES = tests/mpi/dcp.c tests/support/dcp_run.c tests/support/dcp_run.h
tests_dcp_calls_mpi_SOURCES = tests/mpi/dcp_calls.c tests/support/dcp_run.c tests/support/dcp_run.h
tests_dcp_random_mpi_SOURCES = tests/mpi/dcp_random.c tests/support/dcp_run.c tests/support/dcp_run.h tests/support/generator.h
tests_gather_mpi_SOURCES = tests/mpi/gather.c
tests_info_mpi_SOURCES = tests/mpi/info.c
tests_errors_mpi_SOURCES = tests/mpi/errors.c
tests_faults_mpi_SOURCES = tests/mpi/chain_confirmed.c
tests_kmeans_mpi_SOURCES = tests/mpi/kmeans.c
tests_large_mpi_SOURCES = tests/mpi/large.c
tests_learn_mpi_SOURCES = tests/mpi/autotune.c
tests_mapping_mpi_SOURCES = tests/mpi/mapping.c
tests_memory_mpi_SOURCES = tests/mpi/memory.c
tests_memory_mpi_LDFLAGS = $(failing_allocations)
tests_operation_mpi_SOURCES = tests/mpi/operation.c
tests_operation_mpi_LDADD = libbench.la $(LDADD)
tests_patterns_mpi_SOURCES = tests/mpi/patterns.c
tests_collectives_mpi_SOURCES = tests/mpi/collectives.c
tests_collective_plans_SOURCES = tests/unit/collective_plans.c tests/support/mutant.c tests/support/mutant.h \
	tests/support/prover.c tests/support/prover.h tests/support/generator.h
tests_plans_SOURCES = tests/unit/plans.c tests/support/mutant.c tests/support/mutant.h tests/support/prover.c tests/support/prover.h \
	tests/support/generator.h
tests_points_mpi_SOURCES = tests/mpi/points.c
tests_popcg_mpi_SOURCES = tests/mpi/popcg.c
tests_readers_mpi_SOURCES = tests/mpi/readers.c tests/fuzz/reading.c tests/fuzz/reading.h
tests_started_mpi_SOURCES = tests/mpi/nonblocking.c
tests_starts_mpi_SOURCES = tests/mpi/kmeans_init.c
tests_survey_mpi_SOURCES = tests/mpi/survey.c
tests_topo_mpi_SOURCES = tests/mpi/topo.c
tests_typemap_mpi_SOURCES = tests/mpi/typemap.c
tests_wait_mpi_SOURCES = tests/mpi/wait.c

include tests/support/local.mk
include tests/unit/local.mk
include tests/mpi/local.mk
include tests/cli/local.mk
include tests/labs/local.mk
include tests/fuzz/local.mk
include tests/interposed/local.mk
include tests/component/local.mk
include tests/watch/local.mk
# A graph of figure 1 of a paper, for tests and docs.
EXTRA_DIST += tests/hlot/congested.txt tests/hlot/figure1.txt tests/run-one

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

check_PROGRAMS += $(UNIT_TESTS) $(MPI_TESTS)
TESTS += $(UNIT_TESTS) $(MPI_TESTS) $(CLI_TESTS) $(LAB_TESTS)
