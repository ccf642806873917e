# Unit tests run as they are, *.sh as a user would; programs named *.mpi run under tests/launch at the
# rank counts that they name. Every test may link everything, internals included.
TEST_EXTENSIONS = .mpi .sh
MPI_LOG_COMPILER = $(srcdir)/tests/launch
SH_LOG_COMPILER = bash
AM_TESTS_ENVIRONMENT = MPIRUN='$(MPIRUN)'; export MPIRUN;
EXTRA_DIST += tests/commands.awk tests/launch tests/leaks.supp tests/expect.sh tests/find_python.sh \
	tests/installed.sh tests/lab.sh tests/programs.sh tests/python.py tests/ranks.sh

check_LTLIBRARIES = libharness.la
libharness_la_SOURCES = tests/allocations.h tests/datatypes.c tests/datatypes.h tests/described.c tests/described.h \
	tests/generator.h tests/harness.c tests/harness.h tests/layouts.c tests/layouts.h tests/mutate.c \
	tests/mutate.h tests/ran.c tests/ran.h

AM_CFLAGS += $(CHECK_CFLAGS)
LDADD = libharness.la libpopcg.la libsurvey.la libkmeans.la libwords.la libapp.la libcoll_core.la \
	$(CHECK_LIBS)

# Without MPI.
check_PROGRAMS += \
	tests/assign \
	tests/bags \
	tests/cgroup \
	tests/confirm \
	tests/cost \
	tests/crc32c \
	tests/decisions \
	tests/doorbell \
	tests/findracks \
	tests/forest \
	tests/hlot_latency \
	tests/hlot_matrix \
	tests/hlot_tree \
	tests/hog \
	tests/images \
	tests/incast \
	tests/kernels \
	tests/learnt \
	tests/lesson \
	tests/npy \
	tests/order \
	tests/output \
	tests/partition \
	tests/plain \
	tests/collective_plans \
	tests/plans \
	tests/pool \
	tests/popcg_grid \
	tests/price \
	tests/profile \
	tests/sieve \
	tests/topocache \
	tests/topofile

# With MPI.
check_PROGRAMS += \
	tests/aggregate.mpi \
	tests/aggregate_call.mpi \
	tests/agreement.mpi \
	tests/alike.mpi \
	tests/bcast.mpi \
	tests/checkpoint.mpi \
	tests/coll_random.mpi \
	tests/dcp.mpi \
	tests/dcp_calls.mpi \
	tests/dcp_random.mpi \
	tests/gather.mpi \
	tests/info.mpi \
	tests/errors.mpi \
	tests/faults.mpi \
	tests/kmeans.mpi \
	tests/large.mpi \
	tests/learn.mpi \
	tests/mapping.mpi \
	tests/memory.mpi \
	tests/operation.mpi \
	tests/patterns.mpi \
	tests/points.mpi \
	tests/popcg.mpi \
	tests/readers.mpi \
	tests/starts.mpi \
	tests/collectives.mpi \
	tests/started.mpi \
	tests/survey.mpi \
	tests/topo.mpi \
	tests/typemap.mpi \
	tests/wait.mpi
# What libcoll allocates can fail (tests/allocations.h).
failing_allocations = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_pool_LDFLAGS = $(failing_allocations)
tests_aggregate_mpi_SOURCES = tests/aggregate.c
tests_aggregate_mpi_LDFLAGS = $(failing_allocations)
tests_aggregate_call_mpi_SOURCES = tests/aggregate_call.c
tests_agreement_mpi_SOURCES = tests/agreement.c
tests_alike_mpi_SOURCES = tests/alike.c
tests_bcast_mpi_SOURCES = tests/bcast.c
tests_checkpoint_mpi_SOURCES = tests/checkpoint.c
tests_coll_random_mpi_SOURCES = tests/coll_random.c tests/open_requests.c tests/open_requests.h
tests_dcp_mpi_SOURCES = tests/dcp.c tests/dcp_run.c tests/dcp_run.h
tests_dcp_calls_mpi_SOURCES = tests/dcp_calls.c tests/dcp_run.c tests/dcp_run.h
tests_dcp_random_mpi_SOURCES = tests/dcp_random.c tests/dcp_run.c tests/dcp_run.h tests/generator.h
tests_gather_mpi_SOURCES = tests/gather.c
tests_info_mpi_SOURCES = tests/info.c
tests_errors_mpi_SOURCES = tests/errors.c
tests_faults_mpi_SOURCES = tests/faults.c
tests_kmeans_mpi_SOURCES = tests/kmeans.c
tests_large_mpi_SOURCES = tests/large.c
tests_learn_mpi_SOURCES = tests/learn.c
tests_mapping_mpi_SOURCES = tests/mapping.c
tests_memory_mpi_SOURCES = tests/memory.c
tests_memory_mpi_LDFLAGS = $(failing_allocations)
tests_operation_mpi_SOURCES = tests/operation.c
tests_operation_mpi_LDADD = libbench.la $(LDADD)
tests_patterns_mpi_SOURCES = tests/patterns.c
tests_collectives_mpi_SOURCES = tests/collectives.c
tests_collective_plans_SOURCES = tests/collective_plans.c tests/mutant.c tests/mutant.h \
	tests/prover.c tests/prover.h tests/generator.h
tests_plans_SOURCES = tests/plans.c tests/mutant.c tests/mutant.h tests/prover.c tests/prover.h \
	tests/generator.h
tests_points_mpi_SOURCES = tests/points.c
tests_popcg_mpi_SOURCES = tests/popcg.c
tests_readers_mpi_SOURCES = tests/readers.c tests/reading.c tests/reading.h
tests_started_mpi_SOURCES = tests/started.c
tests_starts_mpi_SOURCES = tests/starts.c
tests_survey_mpi_SOURCES = tests/survey.c
tests_topo_mpi_SOURCES = tests/topo.c
tests_typemap_mpi_SOURCES = tests/typemap.c
tests_wait_mpi_SOURCES = tests/wait.c

# In other languages, linked with what is installed alone.
if HAVE_MPICXX
check_PROGRAMS += tests/cplusplus.mpi
tests_cplusplus_mpi_SOURCES = tests/cplusplus.cc
tests_cplusplus_mpi_CXXFLAGS = -std=c++17 $(WARNING_CXXFLAGS)
tests_cplusplus_mpi_LDADD = libcoll.la
endif
if HAVE_COLL_F08
check_PROGRAMS += tests/f08.mpi
tests_f08_mpi_SOURCES = tests/f08.f90
tests_f08_mpi_LDADD = libcoll_f08.la libcoll.la
tests/f08.$(OBJEXT): coll_f08.mod
CLEANFILES += checks.mod
endif

# What tests/python.sh offers instead of libcoll.
check_LTLIBRARIES += libforeign.la
libforeign_la_SOURCES = tests/foreign.c
libforeign_la_LDFLAGS = -module -avoid-version -rpath /nowhere

# Plans at more ranks and from every root, which takes a while.
.PHONY: prove
prove: tests/plans$(EXEEXT) tests/collective_plans$(EXEEXT)
	PROVE=all tests/plans$(EXEEXT)
	PROVE=all tests/collective_plans$(EXEEXT)

# What scripts/fuzz runs, and the files that it found.
EXTRA_PROGRAMS = tests/fuzz_readers
tests_fuzz_readers_SOURCES = tests/fuzz_readers.c tests/reading.c tests/reading.h
tests_fuzz_readers_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
CLEANFILES += $(EXTRA_PROGRAMS)
EXTRA_DIST += tests/corpus

# What tests/autotopo.sh looks at.
noinst_PROGRAMS += tests/places
tests_places_SOURCES = tests/places.c
tests_places_LDADD = libcoll_core.la

# What a script runs.
noinst_PROGRAMS += tests/fault_probe
tests_fault_probe_LDADD = libcoll_core.la
noinst_PROGRAMS += tests/hlot_follow
tests_hlot_follow_LDADD = libcoll_core.la
noinst_PROGRAMS += tests/unfinished
tests_unfinished_LDADD = libcoll.la

# Programs as they are, which know nothing of libcoll: tests/interposed.sh runs them under its wrapper.
if HAVE_PMPI
noinst_PROGRAMS += tests/interposed/arguments tests/interposed/calls \
	tests/interposed/collectives tests/interposed/cost tests/interposed/descriptions \
	tests/interposed/early tests/interposed/ends tests/interposed/environment tests/interposed/family \
	tests/interposed/opens tests/interposed/random tests/interposed/requests tests/interposed/threads
tests_interposed_arguments_SOURCES = tests/interposed/arguments.c tests/interposed/persistent.h
tests_interposed_arguments_LDADD =
tests_interposed_calls_LDADD =
tests_interposed_collectives_SOURCES = tests/interposed/collectives.c tests/interposed/counts.h
tests_interposed_collectives_LDADD =
tests_interposed_cost_LDADD =
tests_interposed_descriptions_SOURCES = tests/interposed/descriptions.c tests/generator.h
tests_interposed_descriptions_LDADD =
tests_interposed_early_LDADD =
tests_interposed_ends_LDADD =
tests_interposed_environment_LDADD =
tests_interposed_family_LDADD =
tests_interposed_opens_LDADD = -ldl
tests_interposed_random_SOURCES = tests/interposed/random.c tests/interposed/counts.h \
	tests/interposed/persistent.h tests/generator.h
tests_interposed_random_LDADD =
tests_interposed_requests_SOURCES = tests/interposed/requests.c tests/interposed/persistent.h
tests_interposed_requests_LDADD =
tests_interposed_threads_LDADD =
if LARGE_COUNTS
noinst_PROGRAMS += tests/interposed/collectives_c tests/interposed/random_c
tests_interposed_collectives_c_SOURCES = $(tests_interposed_collectives_SOURCES)
tests_interposed_collectives_c_CPPFLAGS = $(AM_CPPFLAGS) -DLARGE_COUNTS
tests_interposed_collectives_c_LDADD =
tests_interposed_random_c_SOURCES = $(tests_interposed_random_SOURCES)
tests_interposed_random_c_CPPFLAGS = $(AM_CPPFLAGS) -DLARGE_COUNTS
tests_interposed_random_c_LDADD =
endif
if HAVE_MPICXX
noinst_PROGRAMS += tests/interposed/bindings
tests_interposed_bindings_SOURCES = tests/interposed/bindings.cc
tests_interposed_bindings_LDADD =
endif
if HAVE_MPIFORT
noinst_PROGRAMS += tests/interposed/mpif_h tests/interposed/use_mpi tests/interposed/use_mpi_f08
# Without interfaces a compiler sees the same call with data of different types.
tests_interposed_mpif_h_SOURCES = tests/interposed/fortran.F90
tests_interposed_mpif_h_FCFLAGS = -DBINDING=77 -std=legacy -w
tests_interposed_mpif_h_LDADD =
tests_interposed_use_mpi_SOURCES = tests/interposed/fortran.F90
tests_interposed_use_mpi_FCFLAGS = -DBINDING=90
tests_interposed_use_mpi_LDADD =
tests_interposed_use_mpi_f08_SOURCES = tests/interposed/fortran.F90
tests_interposed_use_mpi_f08_FCFLAGS = -DBINDING=8
tests_interposed_use_mpi_f08_LDADD =
endif
CLEANFILES += callbacks_77.mod callbacks_90.mod callbacks_f08.mod
# One that is linked with it. A static library leaves the last step of linking to the program.
check_PROGRAMS += tests/linked.mpi
tests_linked_mpi_SOURCES = tests/linked.c tests/interposed/persistent.h
tests_linked_mpi_LDADD = libcoll_pmpi.la
if !SHARED
tests_linked_mpi_LDFLAGS = $(AM_LDFLAGS) -Wl,@cdcp/pmpi/wrap.ld
endif
endif
if HAVE_WATCH
check_PROGRAMS += tests/watch_diagnosis
tests_watch_diagnosis_LDADD = libwatch.la $(LDADD)
# Programs that hang, for scripts/watch-errors.
noinst_PROGRAMS += tests/watch/seeded
tests_watch_seeded_SOURCES = tests/watch/seeded.c tests/generator.h
tests_watch_seeded_LDADD =
noinst_PROGRAMS += tests/watch/partners
tests_watch_partners_LDADD =
endif
# What a program sees that runs with another MPI library.
check_LTLIBRARIES += libother.la
libother_la_SOURCES = tests/interposed/other.c
libother_la_LDFLAGS = -module -avoid-version -rpath /nowhere
# A tool that is preloaded beside the wrapper.
check_LTLIBRARIES += libcounting.la
libcounting_la_SOURCES = tests/interposed/counting.c
libcounting_la_LDFLAGS = -module -avoid-version -rpath /nowhere
# What has ranks of MPICH yield. It is made as a shared library alone.
if !OPEN_MPI
check_LTLIBRARIES += libyielding.la
AM_TESTS_ENVIRONMENT += if test -f .libs/libyielding.so; then \
	LD_PRELOAD=$(abs_builddir)/.libs/libyielding.so; export LD_PRELOAD; fi;
libyielding_la_SOURCES = tests/yielding.c
libyielding_la_LDFLAGS = -module -avoid-version -rpath /nowhere
endif

# The same for tests/component.sh.
if HAVE_OMPI_COMPONENT
noinst_PROGRAMS += tests/component/counted tests/component/dups tests/component/errors \
	tests/component/late tests/component/made tests/component/operations \
	tests/component/set
tests_component_counted_LDADD =
tests_component_dups_LDADD =
tests_component_errors_SOURCES = tests/component/errors.c tests/component/persistent.h
tests_component_errors_LDADD =
tests_component_late_LDADD =
tests_component_made_SOURCES = tests/component/made.c tests/component/persistent.h
tests_component_made_LDADD = -lpthread
tests_component_operations_SOURCES = tests/component/operations.c tests/component/persistent.h
tests_component_operations_LDADD =
tests_component_set_LDADD = libcoll.la
endif

# The programs, an example and the scripts.
SCRIPT_TESTS = tests/applications.sh tests/autotopo.sh tests/chooser_score.sh tests/cmake.sh tests/coll_kmeans.sh tests/coll_popcg.sh tests/commands.sh \
	tests/component.sh tests/configure.sh tests/documents.sh tests/draw.sh tests/hlot.sh \
	tests/hlot_lab.sh tests/interposed.sh tests/kernels_arm.sh tests/lab_faults.sh tests/netlab.sh tests/plot.sh \
	tests/python.sh tests/restart.sh tests/simulate.sh tests/slurm.sh tests/tools.sh \
	tests/unfinished.sh tests/watch.sh tests/wordcount.sh tests/words.sh
EXTRA_DIST += $(SCRIPT_TESTS) tests/cmake/CMakeLists.txt tests/hlot/congested.txt tests/hlot/figure1.txt

# "make check RUN_SCRIPT_TESTS=" runs the programs alone.
RUN_SCRIPT_TESTS = $(SCRIPT_TESTS)
TESTS += $(check_PROGRAMS) $(RUN_SCRIPT_TESTS)
