# libcoll_f08 and its module for Fortran 2008, generated from coll.h.
f08_made = fortran/calls.c fortran/coll_f08.f90
if HAVE_COLL_F08
lib_LTLIBRARIES += libcoll_f08.la
libcoll_f08_la_SOURCES = fortran/f08.c fortran/f08.h
nodist_libcoll_f08_la_SOURCES = $(f08_made)
libcoll_f08_la_LIBADD = libcoll.la
libcoll_f08_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0
# A module fits one compiler only, so it is installed next to the library, not among the headers.
fmoddir = $(pkglibdir)/fortran
nodist_fmod_DATA = coll_f08.mod
coll_f08.mod: libcoll_f08.la
	@test -f $@
pkgconfig_DATA += coll_f08.pc
endif

fortran/calls.c: $(srcdir)/fortran/calls.c.in
fortran/coll_f08.f90: $(srcdir)/fortran/coll_f08.f90.in
$(f08_made): $(srcdir)/fortran/generate.awk $(srcdir)/include/coll.h
	$(AM_V_GEN)mkdir -p fortran && awk -f $(srcdir)/fortran/generate.awk \
		$(srcdir)/include/coll.h $(srcdir)/$@.in >$@
CLEANFILES += $(f08_made) coll_f08.mod
EXTRA_DIST += fortran/generate.awk fortran/calls.c.in fortran/coll_f08.f90.in
