# Programs, an example and scripts, as people run them.
CLI_TESTS = \
	tests/cli/applications.sh \
	tests/cli/chooser_score.sh \
	tests/cli/cmake.sh \
	tests/cli/coll_kmeans.sh \
	tests/cli/coll_popcg.sh \
	tests/cli/commands.sh \
	tests/cli/component.sh \
	tests/cli/configure.sh \
	tests/cli/doctor.sh \
	tests/cli/documents.sh \
	tests/cli/draw.sh \
	tests/cli/hlot.sh \
	tests/cli/interposed.sh \
	tests/cli/kernels_arm.sh \
	tests/cli/plot.sh \
	tests/cli/python.sh \
	tests/cli/replay.sh \
	tests/cli/report.sh \
	tests/cli/restart.sh \
	tests/cli/simulate.sh \
	tests/cli/tarball.sh \
	tests/cli/tools.sh \
	tests/cli/unfinished.sh \
	tests/cli/watch.sh \
	tests/cli/wordcount.sh \
	tests/cli/words.sh
EXTRA_DIST += $(CLI_TESTS) tests/cli/cmake/CMakeLists.txt tests/cli/commands.awk tests/cli/goal.awk tests/cli/installed.sh \
	tests/cli/python.py tests/cli/python_kmeans.py

# What tests/cli/python.sh offers instead of libcoll.
check_LTLIBRARIES += libforeign.la
libforeign_la_SOURCES = tests/cli/foreign.c
libforeign_la_LDFLAGS = -module -avoid-version -rpath /nowhere

noinst_PROGRAMS += tests/cli/unfinished
tests_cli_unfinished_LDADD = libcoll.la
