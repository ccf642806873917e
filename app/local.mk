# libapp.la: what the programs share, without MPI: problems and files.
noinst_LTLIBRARIES += libapp.la
libapp_la_SOURCES = \
	app/files.c app/files.h \
	app/gnuplot.c app/gnuplot.h \
	app/output.c app/output.h \
	app/path.c app/path.h \
	app/problem.c app/problem.h
