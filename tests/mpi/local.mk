# Tests of several ranks.
MPI_TESTS = \
	tests/mpi/aggregate.mpi \
	tests/mpi/aggregate_call.mpi \
	tests/mpi/agreement.mpi \
	tests/mpi/autotune.mpi \
	tests/mpi/bcast.mpi \
	tests/mpi/chain_confirmed.mpi \
	tests/mpi/checkpoint.mpi \
	tests/mpi/coll_random.mpi \
	tests/mpi/collectives.mpi \
	tests/mpi/dcp.mpi \
	tests/mpi/dcp_calls.mpi \
	tests/mpi/dcp_random.mpi \
	tests/mpi/divergent_ranks.mpi \
	tests/mpi/errors.mpi \
	tests/mpi/gather.mpi \
	tests/mpi/info.mpi \
	tests/mpi/kmeans.mpi \
	tests/mpi/kmeans_init.mpi \
	tests/mpi/kmeans_library.mpi \
	tests/mpi/large.mpi \
	tests/mpi/mapping.mpi \
	tests/mpi/memory.mpi \
	tests/mpi/neighbors.mpi \
	tests/mpi/nonblocking.mpi \
	tests/mpi/operation.mpi \
	tests/mpi/patterns.mpi \
	tests/mpi/points.mpi \
	tests/mpi/popcg.mpi \
	tests/mpi/rare_arguments.mpi \
	tests/mpi/readers.mpi \
	tests/mpi/survey.mpi \
	tests/mpi/topo.mpi \
	tests/mpi/typemap.mpi \
	tests/mpi/wait.mpi
tests_mpi_aggregate_mpi_LDFLAGS = $(failing_allocations)
# open_requests.c replaces functions of MPI.
tests_mpi_coll_random_mpi_SOURCES = tests/mpi/coll_random.c tests/support/open_requests.c \
	tests/support/open_requests.h
tests_mpi_kmeans_library_mpi_LDADD = libcoll_kmeans.la $(LDADD)
tests_mpi_points_mpi_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_mpi_memory_mpi_LDFLAGS = $(failing_allocations)
tests_mpi_nonblocking_mpi_LDADD = $(threads_ldadd)
tests_mpi_agreement_mpi_LDADD = libbench.la $(LDADD)
tests_mpi_operation_mpi_LDADD = libbench.la $(LDADD)
tests_mpi_readers_mpi_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
tests_mpi_readers_mpi_SOURCES = tests/mpi/readers.c tests/fuzz/reading.c tests/fuzz/reading.h

# In other languages, linked with what is installed alone.
if HAVE_MPICXX
MPI_TESTS += tests/mpi/cplusplus.mpi
tests_mpi_cplusplus_mpi_SOURCES = tests/mpi/cplusplus.cc
tests_mpi_cplusplus_mpi_CXXFLAGS = -std=c++17 $(WARNING_CXXFLAGS)
tests_mpi_cplusplus_mpi_LDADD = libcoll.la
endif
if HAVE_COLL_F08
MPI_TESTS += tests/mpi/f08.mpi
tests_mpi_f08_mpi_SOURCES = tests/mpi/f08.f90
tests_mpi_f08_mpi_LDADD = libcoll_f08.la libcoll.la
tests/mpi/f08.$(OBJEXT): coll_f08.mod
CLEANFILES += checks.mod
endif

# Linked with the library that coll-run preloads. A static one leaves the last step of linking to the program.
if HAVE_PMPI
MPI_TESTS += tests/mpi/linked.mpi
tests_mpi_linked_mpi_SOURCES = tests/mpi/linked.c tests/interposed/persistent.h
tests_mpi_linked_mpi_LDADD = libcoll_pmpi.la
if !SHARED
tests_mpi_linked_mpi_LDFLAGS = $(AM_LDFLAGS) -Wl,@cdcp/pmpi/wrap.ld
endif
endif
