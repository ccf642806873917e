# libcoll_core.la holds everything and is what the tests link with; libcoll.la exports what coll.h and
# coll_tools.h declare.
noinst_LTLIBRARIES += libcoll_core.la
libcoll_core_la_SOURCES = \
	lib/aggregate/aggregate.c lib/aggregate/aggregate.h \
	lib/aggregate/direct.c \
	lib/aggregate/exchange.c lib/aggregate/exchange.h \
	lib/aggregate/group_by.c \
	lib/aggregate/pool.c lib/aggregate/pool.h \
	lib/aggregate/three_stage.c \
	lib/algorithm/algorithm.h \
	lib/algorithm/line.c lib/algorithm/line.h \
	lib/algorithm/spec.c lib/algorithm/spec.h \
	lib/allgather/allgather.h \
	lib/allgather/doubling.c \
	lib/allgather/ring.c \
	lib/allgather/usual.c \
	lib/allreduce/allreduce.h \
	lib/allreduce/binomial.c \
	lib/allreduce/chain.c \
	lib/allreduce/circulant.c \
	lib/allreduce/halving.c \
	lib/allreduce/levels.c \
	lib/allreduce/racks.c \
	lib/allreduce/recursive_doubling.c \
	lib/allreduce/ring.c \
	lib/alltoall/alltoall.h \
	lib/alltoall/bruck.c \
	lib/alltoall/linear.c \
	lib/alltoall/pairwise.c \
	lib/allreduce/trees.c lib/allreduce/trees.h \
	lib/barrier/barrier.h \
	lib/barrier/dissemination.c \
	lib/barrier/racks.c \
	lib/alltoall/racks.c \
	lib/base/agree.c lib/base/agree.h \
	lib/base/blocks.c lib/base/blocks.h \
	lib/base/cachefile.c lib/base/cachefile.h \
	lib/base/cgroup.c lib/base/cgroup.h \
	lib/base/comm.c lib/base/comm.h \
	lib/base/cores.c lib/base/cores.h \
	lib/base/crc32c.c lib/base/crc32c.h \
	lib/base/data.c lib/base/data.h \
	lib/base/doorbell.c lib/base/doorbell.h \
	lib/base/env.c lib/base/env.h \
	lib/base/error.c lib/base/error.h \
	lib/base/hash.h \
	lib/base/library.c lib/base/library.h \
	lib/base/monotonic.c lib/base/monotonic.h \
	lib/base/parcel.c lib/base/parcel.h \
	lib/base/plain.c lib/base/plain.h \
	lib/base/preloaded.c lib/base/preloaded.h \
	lib/base/reduction.c lib/base/reduction.h \
	lib/base/run.c lib/base/run.h \
	lib/base/size.c lib/base/size.h \
	lib/base/spare.c lib/base/spare.h \
	lib/base/substitute.h \
	lib/base/textfile.c lib/base/textfile.h \
	lib/base/ticker.c lib/base/ticker.h \
	lib/base/typemap.c lib/base/typemap.h \
	lib/base/wait.c lib/base/wait.h \
	lib/bcast/bcast.c lib/bcast/bcast.h \
	lib/bcast/bine.c \
	lib/bcast/binomial.c \
	lib/bcast/chain.c \
	lib/bcast/chain_confirmed.c lib/bcast/chain_confirmed.h \
	lib/bcast/circulant.c \
	lib/bcast/linear.c \
	lib/bcast/native.c \
	lib/bcast/scatter_allgather.c \
	lib/bcast/two_tree.c \
	lib/coll.c \
	lib/component.c \
	lib/confirm/blame.c lib/confirm/blame.h \
	lib/confirm/boxes.c lib/confirm/boxes.h \
	lib/confirm/message.c lib/confirm/message.h \
	lib/confirm/note.c lib/confirm/note.h \
	lib/confirm/watch.c lib/confirm/watch.h \
	lib/cost/cost.c lib/cost/cost.h \
	lib/cost/networks.c lib/cost/networks.h \
	lib/cost/profile.c lib/cost/profile.h \
	lib/cost/profilefile.c lib/cost/profilefile.h \
	lib/gather/binomial.c \
	lib/gather/credit.c \
	lib/gather/gather.c lib/gather/gather.h \
	lib/gather/intake.c lib/gather/intake.h \
	lib/gather/linear.c \
	lib/gather/native.c \
	lib/gather/straight.c lib/gather/straight.h \
	lib/gather/supply.c \
	lib/gather/window.c \
	lib/info.c lib/info.h \
	lib/operation/call.c lib/operation/call.h \
	lib/operation/collective.c lib/operation/collective.h \
	lib/operation/common.c lib/operation/common.h \
	lib/operation/decisions.c lib/operation/decisions.h \
	lib/operation/job.c lib/operation/job.h \
	lib/operation/learn.c lib/operation/learn.h \
	lib/operation/learnt.c lib/operation/learnt.h \
	lib/operation/lesson.c lib/operation/lesson.h \
	lib/operation/native.c \
	lib/operation/operations.h \
	lib/operation/pending.c lib/operation/pending.h \
	lib/operation/select.c lib/operation/select.h \
	lib/operation/settings.c lib/operation/settings.h \
	lib/operation/setup.c lib/operation/setup.h \
	lib/operation/stand_in.c lib/operation/stand_in.h \
	lib/operation/state.c lib/operation/state.h \
	lib/operation/trace.c lib/operation/trace.h \
	lib/pattern/bine.c lib/pattern/bine.h \
	lib/pattern/binomial.c lib/pattern/binomial.h lib/pattern/radix.h \
	lib/pattern/block.c lib/pattern/block.h \
	lib/pattern/circulant.c lib/pattern/circulant.h \
	lib/pattern/incast.c lib/pattern/incast.h \
	lib/pattern/multiply.c lib/pattern/multiply.h \
	lib/pattern/order.c lib/pattern/order.h \
	lib/pattern/partition.c lib/pattern/partition.h \
	lib/pattern/twotree.c lib/pattern/twotree.h \
	lib/pattern/usualtree.c lib/pattern/usualtree.h \
	lib/place/addresses.c lib/place/addresses.h \
	lib/place/autotopo.c lib/place/autotopo.h \
	lib/place/findracks.c lib/place/findracks.h \
	lib/place/hostlist.c lib/place/hostlist.h \
	lib/place/locate.c lib/place/locate.h \
	lib/place/nearness.c lib/place/nearness.h \
	lib/place/report.c lib/place/report.h \
	lib/place/roundtrip.c lib/place/roundtrip.h \
	lib/place/tcp_info.c lib/place/tcp_info.h \
	lib/place/topo.c lib/place/topo.h \
	lib/place/topocache.c lib/place/topocache.h \
	lib/place/topofile.c lib/place/topofile.h \
	lib/reduce/binomial.c \
	lib/reduce/chain.c \
	lib/reduce/reduce.h \
	lib/reduce/tree.c lib/reduce/tree.h \
	lib/reduce/two_tree.c \
	lib/reduce_scatter/circulant.c \
	lib/reduce_scatter/pairwise.c \
	lib/reduce_scatter/reduce_scatter.h \
	lib/reduce_scatter/ring.c \
	lib/reduce_scatter/usual.c \
	lib/registry.c \
	lib/request.c \
	lib/scatter/binomial.c \
	lib/scatter/scatter.h \
	lib/scatter/straight.c \
	lib/scan/linear.c \
	lib/scan/recursive_doubling.c \
	lib/scan/scan.c lib/scan/scan.h \
	lib/schedule/agenda.c lib/schedule/agenda.h \
	lib/schedule/course.c lib/schedule/course.h \
	lib/schedule/cursor.c lib/schedule/cursor.h \
	lib/schedule/draw.c lib/schedule/draw.h \
	lib/schedule/engine.c lib/schedule/engine.h \
	lib/schedule/estimate.c lib/schedule/estimate.h \
	lib/schedule/network.c lib/schedule/network.h \
	lib/schedule/plan.h \
	lib/schedule/price.c lib/schedule/price.h \
	lib/schedule/traffic.c lib/schedule/traffic.h \
	lib/schedule/tuned.h \
	lib/schedule/turns.c lib/schedule/turns.h \
	lib/schedule/two_trees.c lib/schedule/two_trees.h
libcoll_core_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
libcoll_core_la_LIBADD = $(HWLOC_LIBS)

lib_LTLIBRARIES += libcoll.la
libcoll_la_SOURCES =
libcoll_la_LIBADD = libcoll_core.la
libcoll_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -export-symbols-regex '^(COLL|DCP)_'
