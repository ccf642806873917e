# libcli.la: what the programs share.
noinst_LTLIBRARIES += libcli.la
libcli_la_SOURCES = tools/cli.c tools/cli.h
