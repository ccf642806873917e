# coll-kmeans and coll-words.

# libwords.la: images, patches, features, bags of words, SVMs and .npy files, without MPI.
noinst_LTLIBRARIES += libwords.la
libwords_la_SOURCES = \
	kmeans/bags.c kmeans/bags.h \
	kmeans/batch.c kmeans/batch.h \
	kmeans/canvas.c kmeans/canvas.h \
	kmeans/exemplars.c kmeans/exemplars.h \
	kmeans/gzip.c kmeans/gzip.h \
	kmeans/hog.c kmeans/hog.h \
	kmeans/image_format.h \
	kmeans/image_idx.c \
	kmeans/image_jpeg.c \
	kmeans/image_png.c \
	kmeans/image_single.c kmeans/image_single.h \
	kmeans/images.c kmeans/images.h \
	kmeans/labels.c kmeans/labels.h \
	kmeans/npy.c kmeans/npy.h \
	kmeans/patches.c kmeans/patches.h \
	kmeans/svm.c kmeans/svm.h \
	kmeans/table.c kmeans/table.h
libwords_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -Wno-unknown-pragmas $(PNG_CFLAGS)
libwords_la_LIBADD = $(PNG_LIBS) $(JPEG_LIBS) $(LINEAR_LIBS) $(ZLIB_LIBS)

# libkmeans.la: assignment, iteration, reading of points and writing of results.
noinst_LTLIBRARIES += libkmeans.la
libkmeans_la_SOURCES = \
	kmeans/agree.c kmeans/agree.h \
	kmeans/assign.c kmeans/assign.h \
	kmeans/assign_avx2.c \
	kmeans/assign_openblas.c \
	kmeans/assign_scalar.c \
	kmeans/assign_vnni.c \
	kmeans/benchmark.c kmeans/benchmark.h \
	kmeans/checkpoint.c kmeans/checkpoint.h \
	kmeans/draw.c kmeans/draw.h \
	kmeans/fingerprint.c kmeans/fingerprint.h \
	kmeans/format.h \
	kmeans/format_idx.c \
	kmeans/format_npy.c \
	kmeans/format_records.c \
	kmeans/format_text.c \
	kmeans/format_vecs.c \
	kmeans/kernel.c kmeans/kernel.h kmeans/kernels.h \
	kmeans/kmeans.c kmeans/kmeans.h \
	kmeans/map.c kmeans/map.h \
	kmeans/memory.h \
	kmeans/partial.c kmeans/partial.h \
	kmeans/paths.c kmeans/paths.h \
	kmeans/peak.c kmeans/peak.h \
	kmeans/place.c kmeans/place.h \
	kmeans/points.c kmeans/points.h \
	kmeans/random.c kmeans/random.h \
	kmeans/real.c kmeans/real.h \
	kmeans/refill.c kmeans/refill.h \
	kmeans/result.c kmeans/result.h \
	kmeans/room.c kmeans/room.h \
	kmeans/rows.c kmeans/rows.h \
	kmeans/sample.c kmeans/sample.h \
	kmeans/sieve.c kmeans/sieve.h \
	kmeans/sketch.c kmeans/sketch.h \
	kmeans/start.c kmeans/start.h \
	kmeans/start_chain.c \
	kmeans/start_file.c \
	kmeans/start_parallel.c \
	kmeans/start_plus_plus.c \
	kmeans/start_random.c \
	kmeans/state.h \
	kmeans/threads.c kmeans/threads.h \
	kmeans/update.c kmeans/update.h \
	lib/crc32c.c lib/crc32c.h
# A compiler without OpenMP ignores its pragmas, and one thread does the work.
libkmeans_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) $(OPENBLAS_CFLAGS) -Wno-unknown-pragmas
libkmeans_la_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
libkmeans_la_LIBADD = $(OPENBLAS_LIBS)

bin_PROGRAMS += coll-words
coll_words_SOURCES = \
	kmeans/coll-words.c \
	kmeans/encode.c kmeans/encode.h \
	kmeans/options.c kmeans/options.h \
	kmeans/verb_curve.c \
	kmeans/verb_encode.c \
	kmeans/verb_features.c \
	kmeans/verb_sheet.c \
	kmeans/verb_test.c \
	kmeans/verb_train.c \
	kmeans/words.h
coll_words_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
coll_words_LDADD = libkmeans.la libwords.la libcli.la libapp.la libcoll.la

bin_PROGRAMS += coll-kmeans
coll_kmeans_SOURCES = \
	kmeans/coll-kmeans.c \
	kmeans/report.c kmeans/report.h
coll_kmeans_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
coll_kmeans_LDADD = libkmeans.la libwords.la libcli.la libapp.la libcoll.la
