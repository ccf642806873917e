# mca_coll_libcoll.so: libcoll as a component of Open MPI, built if its internal headers are installed.
# Without --with-ompi-components it is installed next to libcoll, and scripts/install-component copies it
# to where Open MPI looks for components.

# configure runs structures.c.
EXTRA_DIST += ompi/missing ompi/structures.c
if HAVE_OMPI_COMPONENT
# Also in libcoll_pmpi.so.
noinst_LTLIBRARIES += libompi_transport.la
libompi_transport_la_SOURCES = \
	ompi/open_mpi_4.h ompi/open_mpi_5.h ompi/openmpi.h \
	ompi/structures.h \
	ompi/transport.c ompi/transport.h
libompi_transport_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
# Open MPI's macros name the source file.
libompi_transport_la_CFLAGS = $(AM_CFLAGS) -fmacro-prefix-map=$(srcdir)/=

componentexecdir = $(OMPI_COMPONENT_DIR)
componentexec_LTLIBRARIES = mca_coll_libcoll.la
mca_coll_libcoll_la_SOURCES = \
	ompi/component.c ompi/component.h \
	ompi/entries.c \
	ompi/module.c \
	ompi/operations.h \
	ompi/peers.c \
	ompi/request.c \
	ompi/timeout.c
mca_coll_libcoll_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
mca_coll_libcoll_la_CFLAGS = $(AM_CFLAGS) -fmacro-prefix-map=$(srcdir)/=
mca_coll_libcoll_la_LIBADD = libompi_transport.la libcoll.la
# Threads of the program may end after Open MPI has closed the component, so it stays loaded.
mca_coll_libcoll_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -Wl,-z,nodelete \
	-export-symbols-regex '^mca_coll_libcoll_component$$'
# libcoll is one folder up or, after install-component, in the same folder.
if !COMPONENT_IN_PLACE
mca_coll_libcoll_la_LDFLAGS += -Wl,-rpath,\$$ORIGIN -Wl,-rpath,\$$ORIGIN/..
endif
if !COMPONENT_IN_PLACE
install-exec-hook:
	@echo "to run programs' collectives with libcoll: $(pkglibdir)/install-component"
endif
endif
