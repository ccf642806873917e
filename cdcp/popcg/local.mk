# libpopcg.la: grid, linear system and solvers of the ocean.
noinst_LTLIBRARIES += libpopcg.la
libpopcg_la_SOURCES = \
	cdcp/popcg/field.c cdcp/popcg/field.h \
	cdcp/popcg/global_sum.c cdcp/popcg/global_sum.h \
	cdcp/popcg/grid.c cdcp/popcg/grid.h \
	cdcp/popcg/halo.c cdcp/popcg/halo.h \
	cdcp/popcg/layout.c cdcp/popcg/layout.h \
	cdcp/popcg/mask.c cdcp/popcg/mask.h \
	cdcp/popcg/nine_point.c cdcp/popcg/nine_point.h \
	cdcp/popcg/ocean.c cdcp/popcg/ocean.h \
	cdcp/popcg/solver.c cdcp/popcg/solver.h \
	cdcp/popcg/solver_chrongear.c \
	cdcp/popcg/solver_pcg.c \
	cdcp/popcg/solver_pipecg.c

# The mask of the ocean, built into the program.
EXTRA_DIST += cdcp/popcg/make-mask cdcp/popcg/ocean.pbm
CLEANFILES += cdcp/popcg/ocean.inc
cdcp/popcg/ocean.inc: $(srcdir)/cdcp/popcg/ocean.pbm
	$(AM_V_GEN)$(MKDIR_P) cdcp/popcg
	$(AM_V_at)od -An -v -tu1 $(srcdir)/cdcp/popcg/ocean.pbm >$@.numbers
	$(AM_V_at)sed 's/[0-9][0-9]*/&,/g' $@.numbers >$@ && rm $@.numbers
$(libpopcg_la_OBJECTS): cdcp/popcg/ocean.inc

bin_PROGRAMS += coll-popcg
coll_popcg_SOURCES = \
	cdcp/popcg/coll-popcg.c \
	cdcp/popcg/popcg_report.c cdcp/popcg/popcg_report.h
coll_popcg_LDADD = libpopcg.la libapp.la libcoll.la
