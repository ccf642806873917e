/* A .npy file of one or two dimensions, read row by row. */
#ifndef COLL_KMEANS_POINTS_TABLE_H
#define COLL_KMEANS_POINTS_TABLE_H

#include "app/problem.h"
#include "kmeans/points/npy.h"

struct table {
    const char *path;
    FILE *file;
    npy_header header;
};

/*
 * Opens the file PATH, which must stay good, when it has DIMENSIONS of FIRST or SECOND type and is
 * not empty, and goes to row 0. table_close it, after a failure too.
 */
bool table_open(struct table *table, const char *path, int dimensions, npy_type first,
                npy_type second, app_problem *problem);

/* Goes to a row, to be read next. */
bool table_seek(struct table *table, uint64_t row, app_problem *problem);

/* Reads the next row. */
bool table_read(struct table *table, void *row, app_problem *problem);

/* A table of zeros may be closed. */
void table_close(struct table *table);

#endif
