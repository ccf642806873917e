# libcli.la: what the programs share.
noinst_LTLIBRARIES += libcli.la
libcli_la_SOURCES = \
	lib/plain.c lib/plain.h \
	lib/textfile.c lib/textfile.h \
	tools/asleep.c tools/asleep.h \
	tools/cli.c tools/cli.h \
	tools/stats.c tools/stats.h

# libbench.la: algorithms side by side.
noinst_LTLIBRARIES += libbench.la
libbench_la_SOURCES = \
	tools/bench.c tools/bench.h \
	tools/clock.c tools/clock.h \
	tools/contender.c tools/contender.h \
	tools/drops.c tools/drops.h \
	tools/operation.c tools/operation.h

bin_PROGRAMS += coll-bench
coll_bench_SOURCES = \
	tools/bench-dcp.c tools/bench-dcp.h \
	tools/coll-bench.c \
	tools/dcp-job.c tools/dcp-job.h \
	tools/overlap.c tools/overlap.h \
	tools/rivals.c tools/rivals.h
coll_bench_LDADD = libbench.la libcli.la libapp.la libcoll.la

bin_PROGRAMS += coll-info
coll_info_SOURCES = \
	tools/benefit.c tools/benefit.h \
	tools/coll-info.c \
	tools/explain-dcp.c tools/explain-dcp.h
coll_info_LDADD = libcli.la libapp.la libcoll.la

# libsurvey.la: what coll-profile measures with.
noinst_LTLIBRARIES += libsurvey.la
libsurvey_la_SOURCES = \
	tools/copies.c tools/copies.h \
	tools/crowd.c tools/crowd.h \
	tools/fit.c tools/fit.h \
	tools/flood.c tools/flood.h \
	tools/model.c tools/model.h \
	tools/pairs.c tools/pairs.h \
	tools/probe.c tools/probe.h \
	tools/survey.c tools/survey.h

bin_PROGRAMS += coll-profile
coll_profile_SOURCES = \
	tools/benefit.c tools/benefit.h \
	tools/coll-profile.c \
	tools/dcp-job.c tools/dcp-job.h \
	tools/overlap.c tools/overlap.h \
	tools/profile-dcp.c tools/profile-dcp.h \
	tools/sheet.c tools/sheet.h \
	tools/trial.c tools/trial.h
coll_profile_LDADD = libsurvey.la libbench.la libcli.la libapp.la libcoll.la
