# libapp.la: what the programs share.
noinst_LTLIBRARIES += libapp.la
libapp_la_SOURCES = \
	app/asleep.c app/asleep.h \
	app/cli.c app/cli.h \
	app/clock.c app/clock.h \
	app/files.c app/files.h \
	app/gnuplot.c app/gnuplot.h \
	app/options.c app/options.h \
	app/output.c app/output.h \
	app/path.c app/path.h \
	app/problem.c app/problem.h \
	app/stats.c app/stats.h \
	lib/base/plain.c lib/base/plain.h \
	lib/base/textfile.c lib/base/textfile.h
