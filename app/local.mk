# libapp.la: what the programs share.
noinst_LTLIBRARIES += libapp.la
libapp_la_SOURCES = \
	app/agree.c app/agree.h \
	app/asleep.c app/asleep.h \
	app/clock.c app/clock.h \
	app/files.c app/files.h \
	app/gnuplot.c app/gnuplot.h \
	app/json.c app/json.h \
	app/options.c app/options.h \
	app/output.c app/output.h \
	app/parse.c app/parse.h \
	app/path.c app/path.h \
	app/problem.c app/problem.h \
	app/progress.c app/progress.h \
	app/stats.c app/stats.h \
	lib/base/monotonic.c lib/base/monotonic.h \
	lib/base/plain.c lib/base/plain.h \
	lib/base/size.c lib/base/size.h \
	lib/base/textfile.c lib/base/textfile.h
