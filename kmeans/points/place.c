#include "config.h"

#include "kmeans/points/place.h"

#include <coll.h>

#include <string.h>

typedef struct target {
    uint8_t *centroids;
    size_t bytes; /* of a row */
} target;

/* Every key comes from the one rank that has the row: there is nothing to combine. */
static void keep(void *into, const void *from, size_t bytes, void *context) {
    (void)into, (void)from, (void)bytes, (void)context;
}

static int put(uint64_t centroid, const void *row, void *context) {
    const target *to = context;
    memcpy(to->centroids + centroid * to->bytes, row, to->bytes);
    return 0;
}

static bool add_rows(const km_points *points, const km_place *places, size_t count, COLL_Pool *pool,
                     app_problem *problem) {
    for (size_t i = 0; i < count; i++) {
        uint64_t row = places[i].row - points->first;
        if (places[i].row < points->first || row >= points->rows)
            continue;
        if (!app_mpi(problem, COLL_Pool_add(pool, places[i].centroid,
                                            points->data + row * km_row_bytes(points))))
            return false;
    }
    return true;
}

bool km_place_rows(const km_points *points, const km_place *places, size_t count,
                   uint8_t *centroids, MPI_Comm comm, app_problem *problem) {
    target to = {centroids, km_row_bytes(points)};
    COLL_Pool *pool = NULL;
    if (app_mpi(problem, COLL_Pool_create(to.bytes, keep, NULL, &pool)))
        add_rows(points, places, count, pool, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        /* Only rank 0 has anything to visit then. */
        if (app_mpi(problem, COLL_Aggregate(pool, 0, comm, NULL)) &&
            COLL_Pool_visit(pool, put, &to) != 0)
            app_refuse(problem, "out of memory");
        good = app_agree(problem, comm);
    }
    COLL_Pool_free(&pool);
    return good;
}
