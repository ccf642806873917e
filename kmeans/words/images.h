/*
 * A set of images, read one after another as 8-bit grey: IDX files (plain or gzipped), PNG and JPEG
 * files, directories of these two. One image at a time is in memory.
 */
#ifndef COLL_KMEANS_WORDS_IMAGES_H
#define COLL_KMEANS_WORDS_IMAGES_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

enum { IMAGE_PIXELS_MOST = 1 << 28 }; /* of one image; more is refused as damage */

struct image {
    size_t width, height;
    uint8_t *pixels; /* row by row */
};

typedef struct image_set image_set;

/*
 * What asking for the next item of a stream gives. NEXT_BAD is a file of one image that can't be
 * decoded: the problem names it, and the next image may be asked for.
 */
typedef enum next_state { NEXT_FAILED, NEXT_BAD, NEXT_NONE, NEXT_READ } next_state;

/* Opens the images of PATHS, in that order; a directory gives its *.png, *.jpg and *.jpeg in byte
 * order of their names. NULL and a problem when a path does not exist or a directory holds none. */
image_set *images_open(const char *const *paths, size_t count, app_problem *problem);

/* Whether a file of that name, in a directory, is taken for an image. */
bool images_reads(const char *name);

/* Reads the next image. Its pixels are the set's, and good until the next call. */
next_state images_next(image_set *set, struct image *image, app_problem *problem);

/* Passes over the next image; what is one in a file of its own is neither read nor checked. */
next_state images_skip(image_set *set, app_problem *problem);

/* The file that the last image came from. */
const char *images_file(const image_set *set);

/* SET may be NULL. */
void images_close(image_set *set);

#endif
