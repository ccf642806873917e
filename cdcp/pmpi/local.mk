# libcoll_pmpi.so: interposes on MPI. It contains its own copy of libcoll and exports only MPI's names.
if HAVE_PMPI
lib_LTLIBRARIES += libcoll_pmpi.la
libcoll_pmpi_la_SOURCES = $(pmpi_by_hand) \
	cdcp/pmpi/account.h \
	cdcp/pmpi/bypass.h \
	cdcp/pmpi/callbacks.h \
	cdcp/pmpi/collectives.h \
	cdcp/pmpi/environment.h \
	cdcp/pmpi/nonblocking.h \
	cdcp/pmpi/requests.h \
	cdcp/pmpi/world.h
nodist_libcoll_pmpi_la_SOURCES = cdcp/pmpi/doors.c cdcp/pmpi/passed.c
# The program may call deprecated MPI functions.
libcoll_pmpi_la_CFLAGS = $(AM_CFLAGS) -Wno-deprecated-declarations
libcoll_pmpi_la_CPPFLAGS = $(AM_CPPFLAGS)
libcoll_pmpi_la_LIBADD = libcoll_core.la
if HAVE_OMPI_COMPONENT
libcoll_pmpi_la_CPPFLAGS += -DHAVE_OMPI_TRANSPORT
libcoll_pmpi_la_LIBADD += libompi_transport.la
endif
libcoll_pmpi_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version -Wl,-Bsymbolic-functions \
	-Wl,@cdcp/pmpi/wrap.ld -export-symbols-regex '^(P?MPI[IX]?|p?mpi|ompi)_'
libcoll_pmpi_la_DEPENDENCIES = $(libcoll_pmpi_la_LIBADD) cdcp/pmpi/wrap.ld
endif

pmpi_by_hand = \
	cdcp/pmpi/account.c \
	cdcp/pmpi/bypass.c \
	cdcp/pmpi/callbacks.c \
	cdcp/pmpi/collective_entries.h \
	cdcp/pmpi/collectives.c \
	cdcp/pmpi/entry.c \
	cdcp/pmpi/environment.c \
	cdcp/pmpi/message_entries.h \
	cdcp/pmpi/messages.c \
	cdcp/pmpi/nonblocking.c \
	cdcp/pmpi/request_arrays.c \
	cdcp/pmpi/requests.c \
	cdcp/pmpi/world.c
# How other languages reach C's functions depends on the MPI library. With the MPI ABI they call C's
# functions.
if OPEN_MPI
pmpi_by_hand += cdcp/pmpi/cplusplus.c cdcp/pmpi/fortran.c cdcp/pmpi/handlers.c
else
pmpi_by_hand += cdcp/pmpi/handler_stand_ins.c
if !MPI_ABI
pmpi_by_hand += cdcp/pmpi/mpich.c
endif
endif

# Generated from the MPI library's header.
pmpi_made = cdcp/pmpi/doors.c cdcp/pmpi/passed.c cdcp/pmpi/wrap.ld
cdcp/pmpi/mpi.i: $(srcdir)/cdcp/pmpi/mpi_all.h
	$(AM_V_GEN)mkdir -p cdcp/pmpi && $(CPP) $(CPPFLAGS) $(srcdir)/cdcp/pmpi/mpi_all.h >$@
$(pmpi_made): cdcp/pmpi/mpi.i $(srcdir)/cdcp/pmpi/generate.awk $(pmpi_by_hand)
	$(AM_V_GEN)cd $(srcdir) && awk -f cdcp/pmpi/generate.awk $(pmpi_by_hand) \
		$(abs_builddir)/cdcp/pmpi/mpi.i $@.in >$(abs_builddir)/$@
cdcp/pmpi/doors.c: $(srcdir)/cdcp/pmpi/doors.c.in
cdcp/pmpi/passed.c: $(srcdir)/cdcp/pmpi/passed.c.in
cdcp/pmpi/wrap.ld: $(srcdir)/cdcp/pmpi/wrap.ld.in
CLEANFILES += $(pmpi_made) cdcp/pmpi/mpi.i
EXTRA_DIST += cdcp/pmpi/generate.awk cdcp/pmpi/doors.c.in cdcp/pmpi/passed.c.in \
	cdcp/pmpi/wrap.ld.in cdcp/pmpi/mpi_all.h
