# The engine of dedicated collective processors: a part of libcoll.
libcoll_core_la_SOURCES += \
	cdcp/api.c \
	cdcp/dcp.c cdcp/dcp.h \
	cdcp/mapping.c cdcp/mapping.h
