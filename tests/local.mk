# Unit tests run as they are; programs named *.mpi run under tests/launch at the rank counts that
# they name. Every test links the whole library, internals included.
EXTRA_DIST += tests/launch tests/leaks.supp
TEST_EXTENSIONS = .mpi
MPI_LOG_COMPILER = $(srcdir)/tests/launch
TESTS += $(check_PROGRAMS)

check_LTLIBRARIES = libharness.la
libharness_la_SOURCES = tests/harness.c tests/harness.h
libharness_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

TEST_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
TEST_LIBS = libharness.la libcoll_core.la $(CHECK_LIBS)

check_PROGRAMS += tests/typemap.mpi
tests_typemap_mpi_SOURCES = tests/typemap.c
tests_typemap_mpi_CFLAGS = $(TEST_CFLAGS)
tests_typemap_mpi_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/pool tests/partition
tests_pool_SOURCES = tests/pool.c
tests_pool_CFLAGS = $(TEST_CFLAGS)
tests_pool_LDADD = $(TEST_LIBS)
tests_partition_SOURCES = tests/partition.c
tests_partition_CFLAGS = $(TEST_CFLAGS)
tests_partition_LDADD = $(TEST_LIBS)

check_PROGRAMS += tests/aggregate.mpi
tests_aggregate_mpi_SOURCES = tests/aggregate.c
tests_aggregate_mpi_CFLAGS = $(TEST_CFLAGS)
tests_aggregate_mpi_LDADD = $(TEST_LIBS)

check_PROGRAMS += tests/patterns.mpi
tests_patterns_mpi_SOURCES = tests/patterns.c
tests_patterns_mpi_CFLAGS = $(TEST_CFLAGS)
tests_patterns_mpi_LDADD = $(TEST_LIBS)

check_PROGRAMS += tests/bcast.mpi tests/bcast_large.mpi
tests_bcast_mpi_SOURCES = tests/bcast.c
tests_bcast_mpi_CFLAGS = $(TEST_CFLAGS)
tests_bcast_mpi_LDADD = $(TEST_LIBS)
tests_bcast_large_mpi_SOURCES = tests/bcast_large.c
tests_bcast_large_mpi_CFLAGS = $(TEST_CFLAGS)
tests_bcast_large_mpi_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/topofile tests/order tests/cgroup tests/topo.mpi tests/wait.mpi
tests_topofile_CFLAGS = $(TEST_CFLAGS)
tests_topofile_LDADD = $(TEST_LIBS)
tests_order_CFLAGS = $(TEST_CFLAGS)
tests_order_LDADD = $(TEST_LIBS)
tests_cgroup_CFLAGS = $(TEST_CFLAGS)
tests_cgroup_LDADD = $(TEST_LIBS)
tests_topo_mpi_SOURCES = tests/topo.c
tests_topo_mpi_CFLAGS = $(TEST_CFLAGS)
tests_topo_mpi_LDADD = $(TEST_LIBS)
tests_wait_mpi_SOURCES = tests/wait.c
tests_wait_mpi_CFLAGS = $(TEST_CFLAGS)
tests_wait_mpi_LDADD = $(TEST_LIBS)
# An example, run as a user would.
TESTS += tests/wordcount.sh
EXTRA_DIST += tests/wordcount.sh

check_PROGRAMS += tests/aggregate_call.mpi
tests_aggregate_call_mpi_SOURCES = tests/aggregate_call.c
tests_aggregate_call_mpi_CFLAGS = $(TEST_CFLAGS)
tests_aggregate_call_mpi_LDADD = $(TEST_LIBS)
# Image features and .npy files.
WORDS_LIBS = libwords.la $(CHECK_LIBS)
check_PROGRAMS += tests/hog tests/images tests/npy
tests_hog_SOURCES = tests/hog.c
tests_hog_CFLAGS = $(TEST_CFLAGS)
tests_hog_LDADD = $(WORDS_LIBS)
tests_images_SOURCES = tests/images.c
tests_images_CFLAGS = $(TEST_CFLAGS) $(PNG_CFLAGS)
tests_images_LDADD = $(WORDS_LIBS) $(PNG_LIBS) $(ZLIB_LIBS)
tests_npy_SOURCES = tests/npy.c
tests_npy_CFLAGS = $(TEST_CFLAGS)
tests_npy_LDADD = $(WORDS_LIBS)
TESTS += tests/words.sh
EXTRA_DIST += tests/words.sh
check_PROGRAMS += tests/assign
tests_assign_SOURCES = tests/assign.c
tests_assign_CFLAGS = $(TEST_CFLAGS)
tests_assign_LDADD = libkmeans.la libcli.la $(CHECK_LIBS)
