# libcoll_core.la holds everything and is what the tests link with; libcoll.la exports coll.h only.
noinst_LTLIBRARIES += libcoll_core.la
libcoll_core_la_SOURCES = \
	lib/agree.c lib/agree.h \
	lib/algorithm.h \
	lib/autotopo.c lib/autotopo.h \
	lib/cgroup.c lib/cgroup.h \
	lib/coll.c \
	lib/comm.c lib/comm.h \
	lib/cores.c lib/cores.h \
	lib/cost.c lib/cost.h \
	lib/crc32c.c lib/crc32c.h \
	lib/data.c lib/data.h \
	lib/doorbell.c lib/doorbell.h \
	lib/env.c lib/env.h \
	lib/error.c lib/error.h \
	lib/flow.c lib/flow.h \
	lib/hostlist.c lib/hostlist.h \
	lib/info.c \
	lib/locate.c lib/locate.h \
	lib/monotonic.c lib/monotonic.h \
	lib/plain.c lib/plain.h \
	lib/profile.c lib/profile.h \
	lib/profilefile.c lib/profilefile.h \
	lib/roundtrip.c lib/roundtrip.h \
	lib/run.c lib/run.h \
	lib/select.c lib/select.h \
	lib/shortcut.c lib/shortcut.h \
	lib/spare.c lib/spare.h \
	lib/spec.c lib/spec.h \
	lib/substitute.h \
	lib/textfile.c lib/textfile.h \
	lib/topo.c lib/topo.h \
	lib/topocache.c lib/topocache.h \
	lib/topofile.c lib/topofile.h \
	lib/trace.c lib/trace.h \
	lib/trials.c lib/trials.h \
	lib/typemap.c lib/typemap.h \
	lib/wait.c lib/wait.h \
	lib/aggregate/aggregate.c lib/aggregate/aggregate.h \
	lib/aggregate/direct.c \
	lib/aggregate/exchange.c lib/aggregate/exchange.h \
	lib/aggregate/group_by.c \
	lib/aggregate/pool.c lib/aggregate/pool.h \
	lib/aggregate/three_stage.c \
	lib/bcast/bcast.c lib/bcast/bcast.h \
	lib/bcast/binomial.c \
	lib/bcast/chain.c \
	lib/bcast/chain_confirmed.c lib/bcast/chain_confirmed.h \
	lib/bcast/circulant.c \
	lib/bcast/linear.c \
	lib/bcast/native.c \
	lib/bcast/scatter_allgather.c \
	lib/bcast/two_tree.c \
	lib/confirm/blame.c lib/confirm/blame.h \
	lib/confirm/note.c lib/confirm/note.h \
	lib/confirm/parcel.c lib/confirm/parcel.h \
	lib/confirm/watch.c lib/confirm/watch.h \
	lib/gather/binomial.c \
	lib/gather/blocks.c lib/gather/blocks.h \
	lib/gather/credit.c \
	lib/gather/gather.c lib/gather/gather.h \
	lib/gather/intake.c lib/gather/intake.h \
	lib/gather/linear.c \
	lib/gather/native.c \
	lib/gather/supply.c \
	lib/gather/window.c \
	lib/pattern/block.c lib/pattern/block.h \
	lib/pattern/circulant.c lib/pattern/circulant.h \
	lib/pattern/cluster.c lib/pattern/cluster.h \
	lib/pattern/incast.c lib/pattern/incast.h \
	lib/pattern/multiply.c lib/pattern/multiply.h \
	lib/pattern/order.c lib/pattern/order.h \
	lib/pattern/partition.c lib/pattern/partition.h \
	lib/pattern/tree.c lib/pattern/tree.h \
	lib/pattern/twotree.c lib/pattern/twotree.h
libcoll_core_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
libcoll_core_la_LIBADD = $(HWLOC_LIBS)

lib_LTLIBRARIES += libcoll.la
libcoll_la_SOURCES =
libcoll_la_LIBADD = libcoll_core.la
libcoll_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^(COLL_|DCP_|coll_dcp_)'
