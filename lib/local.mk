# libcoll_core.la holds everything and is what the tests link with; libcoll.la exports what coll.h and
# coll_tools.h declare.
noinst_LTLIBRARIES += libcoll_core.la
libcoll_core_la_SOURCES = \
	lib/aggregate/aggregate.c lib/aggregate/aggregate.h \
	lib/aggregate/direct.c \
	lib/aggregate/group_by.c \
	lib/aggregate/partition.c lib/aggregate/partition.h \
	lib/aggregate/pool.c lib/aggregate/pool.h \
	lib/aggregate/three_stage.c \
	lib/algorithm/algorithm.h \
	lib/algorithm/operations.h \
	lib/algorithm/rank_order.c lib/algorithm/rank_order.h \
	lib/algorithm/spec.c lib/algorithm/spec.h \
	lib/allgather/allgather.h \
	lib/allgather/doubling.c \
	lib/allgather/multi_leader.c \
	lib/allgather/ring.c \
	lib/allgather/usual.c \
	lib/allreduce/allreduce.h \
	lib/allreduce/binomial.c \
	lib/allreduce/chain.c \
	lib/allreduce/circulant.c \
	lib/allreduce/halving.c \
	lib/allreduce/levels.c \
	lib/allreduce/multi_leader.c \
	lib/allreduce/node_shares.c \
	lib/allreduce/racks.c \
	lib/allreduce/recursive_doubling.c \
	lib/allreduce/ring.c \
	lib/allreduce/trees.c lib/allreduce/trees.h \
	lib/alltoall/alltoall.h \
	lib/alltoall/bruck.c \
	lib/alltoall/linear.c \
	lib/alltoall/multi_leader.c \
	lib/alltoall/pairwise.c \
	lib/alltoall/pairwise.h \
	lib/alltoall/pairwise_unequal.c \
	lib/alltoall/racks.c \
	lib/alltoall/tuna.c \
	lib/alltoall/turns.c \
	lib/alltoall/turns.h \
	lib/api/coll.c \
	lib/api/component.c \
	lib/api/info.c \
	lib/api/registry.c \
	lib/api/request.c lib/api/request.h \
	lib/barrier/barrier.h \
	lib/barrier/dissemination.c \
	lib/barrier/multi_leader.c \
	lib/barrier/racks.c \
	lib/barrier/usual.c \
	lib/base/abort.c lib/base/abort.h \
	lib/base/agree.c lib/base/agree.h \
	lib/base/attribute.c lib/base/attribute.h \
	lib/base/blocks.c lib/base/blocks.h \
	lib/base/c_locale.c lib/base/c_locale.h \
	lib/base/cachefile.c lib/base/cachefile.h \
	lib/base/cgroup.c lib/base/cgroup.h \
	lib/base/comm.c lib/base/comm.h \
	lib/base/cores.c lib/base/cores.h \
	lib/base/crc32c.c lib/base/crc32c.h \
	lib/base/data.c lib/base/data.h \
	lib/base/dcp_hooks.h \
	lib/base/descriptors.c lib/base/descriptors.h \
	lib/base/env.c lib/base/env.h \
	lib/base/envelope.h \
	lib/base/error.c lib/base/error.h \
	lib/base/hash.h \
	lib/base/iov_tree.c lib/base/iov_tree.h \
	lib/base/library.c lib/base/library.h \
	lib/base/members.c lib/base/members.h \
	lib/base/pack_buffer.c lib/base/pack_buffer.h \
	lib/base/preloaded.c lib/base/preloaded.h \
	lib/base/progress_thread.c lib/base/progress_thread.h \
	lib/base/reduction.c lib/base/reduction.h \
	lib/base/reserve_alloc.c lib/base/reserve_alloc.h \
	lib/base/send_queue.c lib/base/send_queue.h \
	lib/base/size.c lib/base/size.h \
	lib/base/socket_wakeup.c lib/base/socket_wakeup.h \
	lib/base/stand_aside.c lib/base/stand_aside.h \
	lib/base/tcp_connections.c lib/base/tcp_connections.h \
	lib/base/textfile.c lib/base/textfile.h \
	lib/base/ticks.h \
	lib/base/typemap.c lib/base/typemap.h \
	lib/base/wait.c lib/base/wait.h \
	lib/base/xml.h \
	lib/bcast/bcast.c lib/bcast/bcast.h \
	lib/bcast/binomial.c \
	lib/bcast/chain.c \
	lib/bcast/circulant.c \
	lib/bcast/linear.c \
	lib/bcast/multi_leader.c \
	lib/bcast/native.c \
	lib/bcast/scatter_allgather.c \
	lib/bcast/two_tree.c \
	lib/bcast/usual_split_binary.c \
	lib/bcast/reliable/chain_confirmed.c lib/bcast/reliable/chain_confirmed.h \
	lib/bcast/reliable/control_msg.h \
	lib/bcast/reliable/diagnosis.c lib/bcast/reliable/diagnosis.h \
	lib/bcast/reliable/failure_detector.c lib/bcast/reliable/failure_detector.h \
	lib/bcast/reliable/ring_buffers.c lib/bcast/reliable/ring_buffers.h \
	lib/bcast/reliable/segment_header.c lib/bcast/reliable/segment_header.h \
	lib/call/args.c lib/call/args.h \
	lib/call/native.c \
	lib/call/request.c lib/call/request.h \
	lib/comm/job_cache.c lib/comm/job_cache.h \
	lib/comm/settings.c lib/comm/settings.h \
	lib/comm/setup.c lib/comm/setup.h \
	lib/cost/cost.c lib/cost/cost.h \
	lib/cost/network_cache.c lib/cost/network_cache.h \
	lib/cost/network_probe.c lib/cost/network_probe.h \
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
	lib/pattern/binomial.c lib/pattern/binomial.h \
	lib/pattern/block.c lib/pattern/block.h \
	lib/pattern/circulant.c lib/pattern/circulant.h \
	lib/pattern/incast.c lib/pattern/incast.h \
	lib/pattern/multiply.c lib/pattern/multiply.h \
	lib/pattern/radix.h \
	lib/pattern/twotree.c lib/pattern/twotree.h \
	lib/pattern/usualtree.c lib/pattern/usualtree.h \
	lib/plan/cursor.c lib/plan/cursor.h \
	lib/plan/engine.c lib/plan/engine.h \
	lib/plan/leader_tree.c lib/plan/leader_tree.h \
	lib/plan/multi_leader.c lib/plan/multi_leader.h \
	lib/plan/node_pairs.c lib/plan/node_pairs.h \
	lib/plan/plan.h \
	lib/plan/staged_plan.c lib/plan/staged_plan.h \
	lib/plan/task.c lib/plan/task.h \
	lib/plan/tuned.h \
	lib/plan/two_trees.c lib/plan/two_trees.h \
	lib/neighbor/combined.c \
	lib/neighbor/linear.c \
	lib/neighbor/neighbor.h \
	lib/reduce/binomial.c \
	lib/reduce/chain.c \
	lib/reduce/multi_leader.c \
	lib/reduce/reduce.h \
	lib/reduce/tree.c lib/reduce/tree.h \
	lib/reduce/two_tree.c \
	lib/reduce_scatter/circulant.c \
	lib/reduce_scatter/multi_leader.c \
	lib/reduce_scatter/pairwise.c \
	lib/reduce_scatter/reduce_scatter.h \
	lib/reduce_scatter/ring.c \
	lib/reduce_scatter/usual.c \
	lib/replay/call_log.c lib/replay/call_log.h \
	lib/replay/cluster.c lib/replay/cluster.h \
	lib/replay/goal.c \
	lib/replay/job_record.c lib/replay/job_record.h \
	lib/replay/place.c \
	lib/replay/replay.c \
	lib/report/advice.c lib/report/advice.h \
	lib/report/arrivals.c lib/report/arrivals.h \
	lib/report/gather.c lib/report/gather.h \
	lib/report/job_calls.c lib/report/job_calls.h \
	lib/report/links.c lib/report/links.h \
	lib/report/list.h \
	lib/report/record.c lib/report/record.h \
	lib/report/report.c lib/report/report.h \
	lib/report/rows.c lib/report/rows.h \
	lib/report/summary.c lib/report/summary.h \
	lib/report/summary_svg.c \
	lib/scan/linear.c \
	lib/scan/recursive_doubling.c \
	lib/scan/scan.c lib/scan/scan.h \
	lib/scatter/binomial.c \
	lib/scatter/scatter.h \
	lib/scatter/straight.c \
	lib/sim/estimate.c lib/sim/estimate.h \
	lib/sim/event_queue.c lib/sim/event_queue.h \
	lib/sim/fair_link.c lib/sim/fair_link.h \
	lib/sim/link_load.c lib/sim/link_load.h \
	lib/sim/network.c lib/sim/network.h \
	lib/sim/sim.c lib/sim/sim.h \
	lib/topology/addresses.c lib/topology/addresses.h \
	lib/topology/contention.c lib/topology/contention.h \
	lib/topology/contention_probe.c lib/topology/contention_probe.h \
	lib/topology/findracks.c lib/topology/findracks.h \
	lib/topology/hostlist.c lib/topology/hostlist.h \
	lib/topology/nearness.c lib/topology/nearness.h \
	lib/topology/graph.c lib/topology/graph.h \
	lib/topology/rack_fit.c lib/topology/rack_fit.h \
	lib/topology/rank_info.c lib/topology/rank_info.h \
	lib/topology/tcp_info.c lib/topology/tcp_info.h \
	lib/topology/tcp_rtt.c lib/topology/tcp_rtt.h \
	lib/topology/topo.c lib/topology/topo.h \
	lib/topology/topocache.c lib/topology/topocache.h \
	lib/topology/topofile.c lib/topology/topofile.h lib/topology/topofile_parse.h \
	lib/topology/topology_conf.c \
	lib/topology/topology_probe.c lib/topology/topology_probe.h \
	lib/topology/topology_source.c lib/topology/topology_source.h \
	lib/topology/topology_yaml.c \
	lib/tuning/autotune.c lib/tuning/autotune.h \
	lib/tuning/autotune_rounds.c lib/tuning/autotune_rounds.h \
	lib/tuning/choice_cache.c lib/tuning/choice_cache.h \
	lib/tuning/ompi_decision_table.c lib/tuning/ompi_decision_table.h \
	lib/tuning/predict.c lib/tuning/predict.h \
	lib/tuning/select.c lib/tuning/select.h \
	lib/tuning/state.c lib/tuning/state.h \
	lib/tuning/trace.c lib/tuning/trace.h \
	lib/tuning/tuning_db.c lib/tuning/tuning_db.h
libcoll_core_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(YAML_CFLAGS)
libcoll_core_la_LIBADD = $(HWLOC_LIBS) $(YAML_LIBS)

lib_LTLIBRARIES += libcoll.la
libcoll_la_SOURCES = lib/base/loaded.c
libcoll_la_LIBADD = libcoll_core.la
libcoll_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:1 -export-symbols-regex '^(COLL|DCP)_'
