/*
 * Images as bags of visual words, over MPI: the ranks take blocks of images in turn, describe their
 * patches, assign these to the nearest words, and count (bags.h). Rank 0 writes the lines in the
 * order of the images, so that they are the same for any number of ranks and threads.
 */
#ifndef COLL_KMEANS_WORDS_ENCODE_H
#define COLL_KMEANS_WORDS_ENCODE_H

#include "app/agreement.h"
#include "kmeans/words/bags.h"
#include "kmeans/words/hog.h"

typedef struct encode_choice {
    patch_choice patches;
    hog_shape shape;
    uint64_t levels; /* of the pyramid */
    bag_norm norm;
    int threads;           /* of each rank */
    const char *centroids; /* the words: .npy, uint8 */
    const char *labels;    /* labels.h; NULL: 0 for all images */
    const char *output;    /* LIBSVM text */
} encode_choice;

typedef struct encode_result {
    uint64_t images, bad; /* encoded, and left out; at rank 0 */
    uint64_t words, bins;
} encode_result;

/* Encodes all images. Collective; on false all ranks have the same problem. */
bool encode_images(const encode_choice *choice, MPI_Comm comm, encode_result *result,
                   app_problem *problem);

#endif
