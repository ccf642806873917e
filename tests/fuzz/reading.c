/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tests/fuzz/reading.h"

#include "kmeans/points/points.h"
#include "kmeans/words/images.h"
#include "kmeans/words/labels.h"
#include "kmeans/words/svm.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test, in a debugger or with a report of a sanitizer, unless TRUTH. */
static void insist(bool truth) {
    if (!truth)
        abort();
}

static bool read_images(const char *path, app_problem *problem) {
    struct image image;
    next_state state = NEXT_FAILED;
    image_set *set = images_open(&path, 1, problem);
    if (!set)
        return false;
    while ((state = images_next(set, &image, problem)) == NEXT_READ) {
        insist(image.width > 0 && image.height > 0);
        volatile uint8_t last =
            image.pixels[image.width * image.height - 1]; /* this read must be within the memory */
        (void)last;
    }
    images_close(set);
    return state == NEXT_NONE;
}

static bool read_points(const char *path, app_problem *problem) {
    km_points points;
    if (!km_points_load(&path, 1, NULL, true, MPI_COMM_SELF, &points, problem))
        return false;
    insist(points.rows == points.total);
    km_points_free(&points);
    return true;
}

#ifdef HAVE_HDF5
static bool read_dataset(const char *path, app_problem *problem) {
    char dataset[4096];
    snprintf(dataset, sizeof dataset, "%s:/x", path);
    return read_points(dataset, problem);
}
#endif

static bool read_labels(const char *path, app_problem *problem) {
    struct labels labels;
    if (!labels_read(path, &labels, problem))
        return false;
    insist(labels.count > 0);
    free(labels.values);
    return true;
}

#ifdef HAVE_LINEAR
static bool read_rows(const char *path, app_problem *problem) {
    svm_rows *rows = svm_read(path, problem);
    if (!rows)
        return false;
    insist(svm_count(rows) > 0);
    svm_free(rows);
    return true;
}
#endif

const file_reader readers[] = {
    {"i.idx", read_images},
    {"i.gz", read_images},
    {"i.png", read_images},
    {"p.npy", read_points},
    {"p.bvecs", read_points},
    {"p.fvecs", read_points},
    {"p.fbin", read_points},
    {"p.i8bin", read_points},
    {"p.u8bin", read_points},
    {"p.idx", read_points},
    {"p.gz", read_points},
    {"p.txt", read_points},
    {"l.idx", read_labels},
    {"l.txt", read_labels},
#ifdef HAVE_HDF5
    {"p.h5", read_dataset},
#endif
#ifdef HAVE_JPEG
    {"i.jpg", read_images},
#endif
#ifdef HAVE_LINEAR
    {"r.svm", read_rows},
#endif
    {NULL, NULL},
};

bool problem_names(const app_problem *problem, const char *name) {
    return strstr(problem->text, name) && !strchr(problem->text, '\n');
}
