# Collectives over sites and the measurement of latencies, which are part of the library's core.
libcoll_core_la_SOURCES += \
	hlot/allreduce_all_sites.c \
	hlot/allreduce_sites.c \
	hlot/barrier_all_sites.c \
	hlot/bcast_hlot.c \
	hlot/bcast_runtime.c hlot/bcast_runtime.h \
	hlot/forecast.c hlot/forecast.h \
	hlot/latency.c hlot/latency.h \
	hlot/levels.c hlot/levels.h \
	hlot/matrix.c hlot/matrix.h \
	hlot/probe.c hlot/probe.h \
	hlot/reduce_sites.c \
	hlot/site_state.c hlot/site_state.h \
	hlot/sites.c hlot/sites.h \
	hlot/tree.c hlot/tree.h \
	hlot/tree_quality.c hlot/tree_quality.h

bin_PROGRAMS += coll-hlot
coll_hlot_SOURCES = \
	hlot/coll-hlot.c \
	hlot/hlot_report.c hlot/hlot_report.h \
	hlot/latency_monitor.c hlot/latency_monitor.h
coll_hlot_LDADD = libapp.la libcoll_core.la
