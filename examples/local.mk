# Example programs: built, but only their sources are installed (docs/local.mk). They use only the public library.
noinst_PROGRAMS = examples/first examples/wordcount
examples_first_LDADD = libcoll.la
examples_wordcount_LDADD = libcoll.la
if HAVE_MPICXX
noinst_PROGRAMS += examples/first_cxx
examples_first_cxx_SOURCES = examples/first.cc
examples_first_cxx_CXXFLAGS = -std=c++17 $(WARNING_CXXFLAGS)
examples_first_cxx_LDADD = libcoll.la
endif
if HAVE_COLL_F08
noinst_PROGRAMS += examples/first_f08
examples_first_f08_SOURCES = examples/first_f08.f90
examples_first_f08_LDADD = libcoll_f08.la libcoll.la
examples/first_f08.$(OBJEXT): coll_f08.mod
endif
