# The engine of dedicated collective processors: a part of libcoll.
libcoll_core_la_SOURCES += \
	cdcp/api.c \
	cdcp/client.c cdcp/client.h \
	cdcp/dcp.c cdcp/dcp.h \
	cdcp/forest.c cdcp/forest.h \
	cdcp/job.h \
	cdcp/late.c cdcp/late.h \
	cdcp/mailbox.c cdcp/mailbox.h \
	cdcp/mapping.c cdcp/mapping.h \
	cdcp/membership.c cdcp/membership.h \
	cdcp/model.c cdcp/model.h \
	cdcp/operands.c cdcp/operands.h \
	cdcp/outbox.c cdcp/outbox.h \
	cdcp/reduction.c cdcp/reduction.h \
	cdcp/request.c cdcp/request.h \
	cdcp/server.c cdcp/server.h \
	cdcp/team.c cdcp/team.h \
	cdcp/wire.c cdcp/wire.h
