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
	tests/support/lot.h \
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
	tests/support/launcher.sh \
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

# Makes suppressions of leaks work with fast unwinding. It is built without the sanitizer, because the
# launcher and shells load it, too. verify_asan_link_order=0 lets libraries be preloaded before the
# sanitizer's own; intercept_tls_get_addr=0 because it guesses where glibc allocated thread-local memory, and
# the search for leaks crashes after a wrong guess.
if ADDRESS_SANITIZER
check_LTLIBRARIES += libleak_stacks.la
AM_TESTS_ENVIRONMENT += \
	LD_PRELOAD=$(abs_builddir)/.libs/libleak_stacks.so$${LD_PRELOAD:+:$$LD_PRELOAD}; export LD_PRELOAD; \
	ASAN_OPTIONS=verify_asan_link_order=0:intercept_tls_get_addr=0:$$ASAN_OPTIONS; export ASAN_OPTIONS; \
	LSAN_OPTIONS=suppressions=$(abs_srcdir)/tests/support/leaks.supp:print_suppressions=0; export LSAN_OPTIONS;
libleak_stacks_la_SOURCES = tests/support/leak_stacks.c
libleak_stacks_la_CFLAGS = -std=c11 $(WARNING_CFLAGS) -fno-omit-frame-pointer
libleak_stacks_la_LDFLAGS = -module -avoid-version -rpath /nowhere
endif
