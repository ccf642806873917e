# libcli.la: what the programs share.
noinst_LTLIBRARIES += libcli.la
libcli_la_SOURCES = tools/cli.c tools/cli.h

bin_PROGRAMS += coll-bench
coll_bench_SOURCES = \
	tools/bench-dcp.c tools/bench-dcp.h \
	tools/bench.c tools/bench.h \
	tools/clock.c tools/clock.h \
	tools/coll-bench.c \
	tools/contender.c tools/contender.h \
	tools/overlap.c tools/overlap.h \
	tools/rivals.c tools/rivals.h \
	tools/stats.c tools/stats.h
coll_bench_LDADD = libcli.la libcoll.la

bin_PROGRAMS += coll-info
coll_info_SOURCES = tools/coll-info.c
coll_info_LDADD = libcli.la libcoll.la

bin_PROGRAMS += coll-profile
coll_profile_SOURCES = \
	tools/coll-profile.c \
	tools/pairs.c tools/pairs.h \
	tools/probe.c tools/probe.h \
	tools/stats.c tools/stats.h
coll_profile_LDADD = libcli.la libcoll.la
