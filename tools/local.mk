# libbench.la: measures algorithms side by side.
noinst_LTLIBRARIES += libbench.la
libbench_la_SOURCES = \
	tools/bench/bench.c tools/bench/bench.h \
	tools/bench/calls.c tools/bench/calls.h \
	tools/bench/contender.c tools/bench/contender.h \
	tools/bench/data.c tools/bench/data.h \
	tools/bench/operation.c tools/bench/operation.h \
	tools/bench/rivals.c tools/bench/rivals.h

bin_PROGRAMS += coll-bench
coll_bench_SOURCES = \
	tools/bench/bench-dcp.c \
	tools/bench/bench-started.c \
	tools/bench/coll-bench.c \
	tools/bench/overlap.c tools/bench/overlap.h \
	tools/commands.h
coll_bench_LDADD = libbench.la libapp.la libcoll.la

# libdoctor.la: what coll-info doctor measures, and concludes from it.
noinst_LTLIBRARIES += libdoctor.la
libdoctor_la_SOURCES = \
	tools/doctor/facts.c tools/doctor/facts.h \
	tools/doctor/judge.h \
	tools/doctor/judge_facts.c \
	tools/doctor/judge_network.c \
	tools/doctor/network_test.c tools/doctor/network_test.h \
	tools/doctor/pair_test.c tools/doctor/pair_test.h \
	tools/doctor/watchdog.c tools/doctor/watchdog.h

bin_PROGRAMS += coll-info
coll_info_SOURCES = \
	tools/commands.h \
	tools/doctor/doctor.c \
	tools/info/call_svg.c tools/info/call_svg.h \
	tools/info/coll-info.c \
	tools/info/draw.c \
	tools/info/explain-dcp.c \
	tools/info/learnt.c \
	tools/info/place.c \
	tools/info/replay.c \
	tools/info/slots.c tools/info/slots.h \
	tools/profile/benefit.c tools/profile/benefit.h
coll_info_LDADD = libdoctor.la libapp.la libcoll.la

# libsurvey.la: coll-profile's measurements.
noinst_LTLIBRARIES += libsurvey.la
libsurvey_la_SOURCES = \
	tools/profile/copies.c tools/profile/copies.h \
	tools/profile/crowd.c tools/profile/crowd.h \
	tools/profile/fit.c tools/profile/fit.h \
	tools/profile/fitted.c tools/profile/fitted.h \
	tools/profile/flood.c tools/profile/flood.h \
	tools/profile/pair_probe.c tools/profile/pair_probe.h \
	tools/profile/survey.c tools/profile/survey.h

bin_PROGRAMS += coll-profile
coll_profile_SOURCES = \
	tools/bench/overlap.c tools/bench/overlap.h \
	tools/commands.h \
	tools/profile/benefit.c tools/profile/benefit.h \
	tools/profile/coll-profile.c \
	tools/profile/profile-dcp.c \
	tools/profile/sheet.c tools/profile/sheet.h
coll_profile_LDADD = libsurvey.la libbench.la libapp.la libcoll.la
