# coll-kmeans and coll-words.

# libwords.la: images, their features and .npy files, without MPI.
noinst_LTLIBRARIES += libwords.la
libwords_la_SOURCES = \
	kmeans/npy.c kmeans/npy.h
