# libcoll_watch.so: reports where a program hangs. Preloaded, or linked before other libraries that define MPI's names.
if HAVE_PMPI
noinst_LTLIBRARIES += libwatch.la
libwatch_la_SOURCES = \
	lib/base/abort.c lib/base/abort.h \
	lib/base/c_locale.c lib/base/c_locale.h \
	lib/base/envelope.h \
	lib/base/json.h \
	lib/base/xml.h \
	watch/addr2line.c watch/addr2line.h \
	watch/analysis.h \
	watch/auth.c watch/auth.h \
	watch/calls.h \
	watch/check.c watch/check.h \
	watch/command.c watch/command.h \
	watch/communicators.c watch/communicators.h \
	watch/cycle.c \
	watch/diagnosis.c watch/diagnosis.h \
	watch/files.c watch/files.h \
	watch/format.c watch/format.h \
	watch/gather_states.c watch/gather_states.h \
	watch/host.c watch/host.h \
	watch/job.c watch/job.h \
	watch/local_name.c watch/local_name.h \
	watch/message_counts.c watch/message_counts.h \
	watch/messages.c watch/messages.h \
	watch/mismatch.c \
	watch/missing_ranks.c \
	watch/process.c watch/process.h \
	watch/record.h \
	watch/recorder.c watch/recorder.h \
	watch/report.c watch/report.h \
	watch/reporter.c watch/reporter.h \
	watch/request_table.c watch/request_table.h \
	watch/ring.c watch/ring.h \
	watch/settings.c watch/settings.h \
	watch/signature.c watch/signature.h \
	watch/stack.c watch/stack.h \
	watch/state.c watch/state.h \
	watch/ticks.c watch/ticks.h \
	watch/timeline.c watch/timeline.h \
	watch/timeline_svg.c watch/timeline_svg.h \
	watch/timeout.c watch/timeout.h \
	watch/unmatched.c \
	watch/waits.c \
	watch/watcher.c watch/watcher.h \
	watch/wire.c watch/wire.h
nodist_libwatch_la_SOURCES = watch/calls.c

lib_LTLIBRARIES += libcoll_watch.la
libcoll_watch_la_SOURCES = \
	lib/base/library.c lib/base/library.h \
	lib/base/preloaded.c lib/base/preloaded.h \
	lib/base/stand_aside.c lib/base/stand_aside.h \
	watch/init_finalize.c
nodist_libcoll_watch_la_SOURCES = watch/entries.c
# The program may call deprecated MPI functions.
libcoll_watch_la_CFLAGS = $(AM_CFLAGS) -Wno-deprecated-declarations
libcoll_watch_la_LIBADD = libwatch.la
libcoll_watch_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version -Wl,-Bsymbolic-functions \
	-export-symbols-regex '^(P?MPIX?_|ompi_mpi_abort$$)'

bin_PROGRAMS += coll-watch
coll_watch_SOURCES = watch/coll-watch.c
coll_watch_LDADD = libapp.la libwatch.la
endif

# Generated from the MPI library's header.
watch_made = watch/calls.c watch/entries.c
$(watch_made): cdcp/pmpi/mpi.i $(srcdir)/cdcp/pmpi/generate.awk
	$(AM_V_GEN)mkdir -p watch && awk -f $(srcdir)/cdcp/pmpi/generate.awk cdcp/pmpi/mpi.i $(srcdir)/$@.in >$@
watch/calls.c: $(srcdir)/watch/calls.c.in
watch/entries.c: $(srcdir)/watch/entries.c.in
CLEANFILES += $(watch_made)
EXTRA_DIST += watch/calls.c.in watch/entries.c.in
