# The engine of dedicated collective processors: a part of libcoll.
libcoll_core_la_SOURCES += \
	cdcp/client.c cdcp/client.h \
	cdcp/client_calls.c \
	cdcp/dcp.c cdcp/dcp.h \
	cdcp/dcp_allreduce.c cdcp/dcp_allreduce.h \
	cdcp/dcp_alltoall.c \
	cdcp/dcp_call.c cdcp/dcp_call.h \
	cdcp/dcp_model.c cdcp/dcp_model.h \
	cdcp/dcp_operation.h \
	cdcp/dcp_tree.c \
	cdcp/early.c cdcp/early.h \
	cdcp/forest.c cdcp/forest.h \
	cdcp/job.h \
	cdcp/late.c cdcp/late.h \
	cdcp/mailbox.c cdcp/mailbox.h \
	cdcp/mapping.c cdcp/mapping.h \
	cdcp/membership.c cdcp/membership.h \
	cdcp/operands.c cdcp/operands.h \
	cdcp/native.c cdcp/native.h \
	cdcp/outbox.c cdcp/outbox.h \
	cdcp/request_pool.c cdcp/request_pool.h \
	cdcp/server.c \
	cdcp/team.c cdcp/team.h \
	cdcp/wire.h
