# libapp.la: code shared by the programs; libapp_core.la: its part that needs no libpng.
noinst_LTLIBRARIES += libapp_core.la libapp.la
libapp_la_SOURCES = \
	app/canvas.c app/canvas.h \
	app/drawer.c app/drawer.h
libapp_la_CFLAGS = $(AM_CFLAGS) $(PNG_CFLAGS)
libapp_la_LIBADD = libapp_core.la $(PNG_LIBS)
libapp_core_la_SOURCES = \
	app/agreement.c app/agreement.h \
	app/checksum.c app/checksum.h \
	app/clocks.c app/clocks.h \
	app/connections.h \
	app/files.c app/files.h \
	app/json.c app/json.h \
	app/options.c app/options.h \
	app/output.c app/output.h \
	app/problem.c app/problem.h \
	app/processor_limit.c app/processor_limit.h \
	app/progress.c app/progress.h \
	app/stats.c app/stats.h \
	lib/base/abort.c lib/base/abort.h \
	lib/base/cgroup.c lib/base/cgroup.h \
	lib/base/crc32c.c lib/base/crc32c.h \
	lib/base/c_locale.c lib/base/c_locale.h \
	lib/base/descriptors.c lib/base/descriptors.h \
	lib/base/json.h \
	lib/base/size.c lib/base/size.h \
	lib/base/tcp_connections.c lib/base/tcp_connections.h \
	lib/base/textfile.c lib/base/textfile.h
