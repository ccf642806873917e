# Programs as they are, which know nothing of libcoll: tests/cli/interposed.sh runs them under its wrapper.
INTERPOSED =
if HAVE_PMPI
INTERPOSED += tests/interposed/arguments tests/interposed/calls \
	tests/interposed/collectives tests/interposed/cost tests/interposed/descriptions \
	tests/interposed/early tests/interposed/ends tests/interposed/environment tests/interposed/family \
	tests/interposed/nonblocking tests/interposed/opens tests/interposed/random tests/interposed/requests tests/interposed/threads
tests_interposed_arguments_SOURCES = tests/interposed/arguments.c tests/interposed/persistent.h
tests_interposed_arguments_LDADD =
tests_interposed_calls_LDADD =
tests_interposed_collectives_SOURCES = tests/interposed/collectives.c tests/interposed/compose.h tests/interposed/counts.h
tests_interposed_collectives_LDADD =
tests_interposed_cost_LDADD =
tests_interposed_descriptions_SOURCES = tests/interposed/descriptions.c tests/support/generator.h
tests_interposed_descriptions_LDADD =
tests_interposed_early_LDADD =
tests_interposed_ends_LDADD =
tests_interposed_environment_LDADD =
tests_interposed_family_LDADD =
tests_interposed_nonblocking_SOURCES = tests/interposed/nonblocking.c tests/interposed/compose.h tests/interposed/counts.h
tests_interposed_nonblocking_LDADD =
tests_interposed_opens_LDADD = -ldl
tests_interposed_random_SOURCES = tests/interposed/random.c tests/interposed/counts.h \
	tests/interposed/persistent.h tests/support/generator.h
tests_interposed_random_LDADD =
tests_interposed_requests_SOURCES = tests/interposed/requests.c tests/interposed/persistent.h
tests_interposed_requests_LDADD =
tests_interposed_threads_LDADD =
if LARGE_COUNTS
INTERPOSED += tests/interposed/collectives_c tests/interposed/nonblocking_c \
	tests/interposed/random_c
tests_interposed_collectives_c_SOURCES = $(tests_interposed_collectives_SOURCES)
tests_interposed_collectives_c_CPPFLAGS = $(AM_CPPFLAGS) -DLARGE_COUNTS
tests_interposed_collectives_c_LDADD =
tests_interposed_nonblocking_c_SOURCES = $(tests_interposed_nonblocking_SOURCES)
tests_interposed_nonblocking_c_CPPFLAGS = $(AM_CPPFLAGS) -DLARGE_COUNTS
tests_interposed_nonblocking_c_LDADD =
tests_interposed_random_c_SOURCES = $(tests_interposed_random_SOURCES)
tests_interposed_random_c_CPPFLAGS = $(AM_CPPFLAGS) -DLARGE_COUNTS
tests_interposed_random_c_LDADD =
endif
if HAVE_MPICXX
INTERPOSED += tests/interposed/bindings
tests_interposed_bindings_SOURCES = tests/interposed/bindings.cc
tests_interposed_bindings_LDADD =
endif
if HAVE_MPIFORT
INTERPOSED += tests/interposed/mpif_h tests/interposed/use_mpi tests/interposed/use_mpi_f08
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
noinst_PROGRAMS += $(INTERPOSED)
CLEANFILES += callbacks_77.mod callbacks_90.mod callbacks_f08.mod
endif
# What a program sees that runs with another MPI library.
check_LTLIBRARIES += libother.la
libother_la_SOURCES = tests/interposed/other.c
libother_la_LDFLAGS = -module -avoid-version -rpath /nowhere
# A tool that is preloaded beside the wrapper.
check_LTLIBRARIES += libcounting.la
libcounting_la_SOURCES = tests/interposed/counting.c
libcounting_la_LDFLAGS = -module -avoid-version -rpath /nowhere
