# coll-kmeans and coll-words.

# libwords.la: images, patches, features, bags of words and SVMs, without MPI. Needs libkmeans.la.
noinst_LTLIBRARIES += libwords.la
libwords_la_SOURCES = \
	kmeans/words/bags.c kmeans/words/bags.h \
	kmeans/words/exemplars.c kmeans/words/exemplars.h \
	kmeans/words/hog.c kmeans/words/hog.h \
	kmeans/words/image_format.h \
	kmeans/words/image_idx.c \
	kmeans/words/image_jpeg.c \
	kmeans/words/image_png.c \
	kmeans/words/images.c kmeans/words/images.h \
	kmeans/words/labels.c kmeans/words/labels.h \
	kmeans/words/patches.c kmeans/words/patches.h \
	kmeans/words/svm.c kmeans/words/svm.h
libwords_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -Wno-unknown-pragmas $(PNG_CFLAGS)
libwords_la_LIBADD = $(PNG_LIBS) $(JPEG_LIBS) $(LINEAR_LIBS) $(ZLIB_LIBS)

# libkmeans.la: assignment, iteration, reading of points and writing of results.
noinst_LTLIBRARIES += libkmeans.la
libkmeans_la_SOURCES = \
	kmeans/assign/assign.c kmeans/assign/assign.h \
	kmeans/assign/assign_avx2.c \
	kmeans/assign/assign_avx2_narrow.c \
	kmeans/assign/assign_avx_vnni.c \
	kmeans/assign/assign_dotprod.c \
	kmeans/assign/assign_i8mm.c \
	kmeans/assign/assign_scalar.c \
	kmeans/assign/assign_vnni.c \
	kmeans/assign/blocks.c kmeans/assign/blocks.h \
	kmeans/assign/code_cache.c kmeans/assign/code_cache.h \
	kmeans/assign/cluster_sums.c kmeans/assign/cluster_sums.h \
	kmeans/assign/empty_clusters.c kmeans/assign/empty_clusters.h \
	kmeans/assign/filter_level.c kmeans/assign/filter_level.h \
	kmeans/assign/group_bounds.c kmeans/assign/group_bounds.h \
	kmeans/assign/kernel.c kmeans/assign/kernel.h \
	kmeans/assign/order.c kmeans/assign/order.h \
	kmeans/assign/pack.h kmeans/assign/pairs.h \
	kmeans/assign/projection.c kmeans/assign/projection.h \
	kmeans/assign/pruning.c kmeans/assign/pruning.h \
	kmeans/assign/quantised.c kmeans/assign/quantised.h \
	kmeans/assign/quantised_assign.c \
	kmeans/assign/quantised_bounds.c kmeans/assign/quantised_bounds.h \
	kmeans/assign/quantised_centroids.h \
	kmeans/assign/quantised_order.c \
	kmeans/assign/quantised_points.c kmeans/assign/quantised_points.h \
	kmeans/assign/quantised_search.c kmeans/assign/quantised_search.h \
	kmeans/assign/reorder_points.c kmeans/assign/reorder_points.h \
	kmeans/assign/threads.c kmeans/assign/threads.h \
	kmeans/assign/tile_256.h \
	kmeans/assign/tile_neon.h \
	kmeans/assign/vectors.c kmeans/assign/vectors.h \
	kmeans/batches.c kmeans/batches.h \
	kmeans/benchmark.c kmeans/benchmark.h \
	kmeans/checkpoint.c kmeans/checkpoint.h \
	kmeans/init/afkmc2.c \
	kmeans/init/draw.c kmeans/init/draw.h \
	kmeans/init/from_file.c \
	kmeans/init/init.c kmeans/init/init.h \
	kmeans/init/kmeans_parallel.c \
	kmeans/init/kmeans_plus_plus.c \
	kmeans/init/random_rows.c \
	kmeans/kmeans.c kmeans/kmeans.h \
	kmeans/map.c kmeans/map.h \
	kmeans/nearest.c kmeans/nearest.h \
	kmeans/points/fixed_point.c kmeans/points/fixed_point.h \
	kmeans/points/format.h \
	kmeans/points/format_idx.c \
	kmeans/points/format_npy.c \
	kmeans/points/format_records.c \
	kmeans/points/format_text.c \
	kmeans/points/format_vecs.c \
	kmeans/points/gzip.c kmeans/points/gzip.h \
	kmeans/points/memory.h \
	kmeans/points/npy.c kmeans/points/npy.h \
	kmeans/points/point_storage.c kmeans/points/point_storage.h \
	kmeans/points/points.c kmeans/points/points.h \
	kmeans/points/random.c kmeans/points/random.h \
	kmeans/points/real.c kmeans/points/real.h \
	kmeans/points/rows.c kmeans/points/rows.h \
	kmeans/points/weights.c kmeans/points/weights.h
# A compiler without OpenMP ignores its pragmas, and one thread does the work.
libkmeans_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -Wno-unknown-pragmas
libkmeans_la_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS)
libkmeans_la_LIBADD = $(ZLIB_LIBS)

# libkmeans_hdf5.la: reading of HDF5, by libhdf5 if there is one. libcoll_kmeans.la, which reads no files, has
# the same source without libhdf5, so that Python needn't load it.
noinst_LTLIBRARIES += libkmeans_hdf5.la
libkmeans_hdf5_la_SOURCES = kmeans/points/format_hdf5.c
libkmeans_hdf5_la_CFLAGS = $(AM_CFLAGS) $(HDF5_CFLAGS)
libkmeans_hdf5_la_LIBADD = $(HDF5_LIBS)

# libcoll_kmeans.la: K-means of rows in memory, for programs and for Python.
lib_LTLIBRARIES += libcoll_kmeans.la
include_HEADERS += include/coll_kmeans.h
libcoll_kmeans_la_SOURCES = kmeans/library.c kmeans/points/format_hdf5.c
libcoll_kmeans_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -Wno-unknown-pragmas -DKM_WITHOUT_HDF5
libcoll_kmeans_la_LDFLAGS = $(AM_LDFLAGS) $(OPENMP_CFLAGS) -version-info 0:0:0 \
	-export-symbols-regex '^COLL_Kmeans_'
libcoll_kmeans_la_LIBADD = libkmeans.la libapp_core.la libcoll.la

bin_PROGRAMS += coll-words
coll_words_SOURCES = \
	kmeans/words/coll-words.c \
	kmeans/words/verb_curve.c \
	kmeans/words/verb_encode.c \
	kmeans/words/verb_features.c \
	kmeans/words/verb_sheet.c \
	kmeans/words/verb_test.c \
	kmeans/words/verb_train.c \
	kmeans/words/words.h
coll_words_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
coll_words_LDADD = libwords.la libkmeans.la libkmeans_hdf5.la libapp.la libcoll.la

bin_PROGRAMS += coll-kmeans
coll_kmeans_SOURCES = \
	kmeans/coll-kmeans.c \
	kmeans/km_predict.c kmeans/km_predict.h \
	kmeans/km_report.c kmeans/km_report.h
coll_kmeans_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
coll_kmeans_LDADD = libkmeans.la libkmeans_hdf5.la libapp.la libcoll.la
