# The engine of dedicated collective processors: a part of libcoll.
libcoll_core_la_SOURCES += \
	cdcp/client.c cdcp/client.h \
	cdcp/client_calls.c \
	cdcp/client_comm.c cdcp/client_comm.h \
	cdcp/dcp.c cdcp/dcp.h \
	cdcp/dcp_allreduce.c cdcp/dcp_allreduce.h \
	cdcp/dcp_alltoall.c \
	cdcp/dcp_call.c cdcp/dcp_call.h \
	cdcp/dcp_model.c cdcp/dcp_model.h \
	cdcp/dcp_operation.h \
	cdcp/dcp_tree.c \
	cdcp/job.h \
	cdcp/mailbox.c cdcp/mailbox.h \
	cdcp/mapping.c cdcp/mapping.h \
	cdcp/native.c cdcp/native.h \
	cdcp/operands.c cdcp/operands.h \
	cdcp/reduction_tree.c cdcp/reduction_tree.h \
	cdcp/request_pool.c cdcp/request_pool.h \
	cdcp/server.c \
	cdcp/server_comm.c cdcp/server_comm.h \
	cdcp/straggler.c cdcp/straggler.h \
	cdcp/unexpected_queue.c cdcp/unexpected_queue.h \
	cdcp/wire.h
