# libcoll_core.la holds everything and is what the tests link with; libcoll.la exports coll.h only.
noinst_LTLIBRARIES += libcoll_core.la
libcoll_core_la_SOURCES = \
	lib/aggregate/aggregate.c lib/aggregate/aggregate.h \
	lib/aggregate/direct.c \
	lib/aggregate/exchange.c lib/aggregate/exchange.h \
	lib/aggregate/group_by.c \
	lib/aggregate/pool.c lib/aggregate/pool.h \
	lib/aggregate/three_stage.c \
	lib/algorithm.h \
	lib/cgroup.c lib/cgroup.h \
	lib/coll_aggregate.c \
	lib/comm.h \
	lib/cores.c lib/cores.h \
	lib/error.c lib/error.h \
	lib/hostlist.c lib/hostlist.h \
	lib/pattern/order.c lib/pattern/order.h \
	lib/pattern/partition.c lib/pattern/partition.h \
	lib/profile.h \
	lib/run.c lib/run.h \
	lib/topo.h \
	lib/typemap.c lib/typemap.h \
	lib/wait.h
	lib/topo.c lib/topo.h \
	lib/topofile.c lib/topofile.h \
	lib/typemap.h \
	lib/wait.c lib/wait.h
libcoll_core_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
libcoll_core_la_LIBADD = $(HWLOC_LIBS)

lib_LTLIBRARIES += libcoll.la
libcoll_la_SOURCES =
libcoll_la_LIBADD = libcoll_core.la
libcoll_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^(COLL|DCP)_'
