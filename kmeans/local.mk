# coll-kmeans and coll-words.

# libwords.la: images, patches, features and .npy files, without MPI.
noinst_LTLIBRARIES += libwords.la
libwords_la_SOURCES = \
	kmeans/canvas.c kmeans/canvas.h \
	kmeans/exemplars.c kmeans/exemplars.h \
	kmeans/hog.c kmeans/hog.h \
	kmeans/image_format.h \
	kmeans/image_idx.c \
	kmeans/image_png.c \
	kmeans/images.c kmeans/images.h \
	kmeans/npy.c kmeans/npy.h \
	kmeans/output.c kmeans/output.h \
	kmeans/patches.c kmeans/patches.h \
	kmeans/problem.c kmeans/problem.h \
	kmeans/table.c kmeans/table.h
libwords_la_CFLAGS = $(AM_CFLAGS) $(PNG_CFLAGS)
libwords_la_LIBADD = $(PNG_LIBS) $(ZLIB_LIBS)

bin_PROGRAMS += coll-words
coll_words_SOURCES = \
	kmeans/coll-words.c \
	kmeans/options.c kmeans/options.h \
	kmeans/verb_features.c \
	kmeans/verb_sheet.c \
	kmeans/words.h
coll_words_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
coll_words_LDADD = libcli.la libwords.la
dist_man_MANS += man/coll-words.1
# libkmeans.la: the mathematics that the programs share.
noinst_LTLIBRARIES += libkmeans.la
libkmeans_la_SOURCES = \
	kmeans/assign.c kmeans/assign.h \
	kmeans/assign_avx2.c \
	kmeans/assign_scalar.c \
	kmeans/assign_vnni.c \
	kmeans/benchmark.c kmeans/benchmark.h \
	kmeans/kernel.c kmeans/kernel.h kmeans/kernels.h \
	kmeans/peak.c kmeans/peak.h
# A compiler without OpenMP ignores its pragmas, and one thread does the work.
libkmeans_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -Wno-unknown-pragmas
libkmeans_la_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
