# What tests share. It is linked as far as a test uses it.
check_LTLIBRARIES = libharness.la
libharness_la_SOURCES = \
	tests/support/allocations.h \
	tests/support/datatypes.c \
	tests/support/datatypes.h \
	tests/support/dcp_run.c \
	tests/support/dcp_run.h \
	tests/support/described.c \
	tests/support/described.h \
	tests/support/generator.h \
	tests/support/harness.c \
	tests/support/harness.h \
	tests/support/layouts.c \
	tests/support/layouts.h \
	tests/support/mutant.c \
	tests/support/mutant.h \
	tests/support/mutate.c \
	tests/support/mutate.h \
	tests/support/prover.c \
	tests/support/prover.h \
	tests/support/ran.c \
	tests/support/ran.h
EXTRA_DIST += \
	tests/support/expect.sh \
	tests/support/find_python.sh \
	tests/support/lab.sh \
	tests/support/launch \
	tests/support/leaks.supp \
	tests/support/programs.sh \
	tests/support/ranks.sh

# What has ranks of MPICH yield. It is made as a shared library alone.
if !OPEN_MPI
check_LTLIBRARIES += libyielding.la
AM_TESTS_ENVIRONMENT += if test -f .libs/libyielding.so; then \
	LD_PRELOAD=$(abs_builddir)/.libs/libyielding.so; export LD_PRELOAD; fi;
libyielding_la_SOURCES = tests/support/yielding.c
libyielding_la_LDFLAGS = -module -avoid-version -rpath /nowhere
endif
