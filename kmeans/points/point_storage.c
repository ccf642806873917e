/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/point_storage.h"

#include "kmeans/points/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int km_open(const char *path, app_problem *problem) {
    struct stat about;
    /* O_NONBLOCK: don't wait for a writer if the path is a pipe. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        app_refuse(problem, "%s: can't be opened: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(file, &about) || !S_ISREG(about.st_mode)) {
        app_refuse(problem, "%s: is not a regular file", path);
        close(file);
        return -1;
    }
    return file;
}

/*
 * Opens a file in DIRECTORY that vanishes when it is closed and unmapped. Returns -1 and a problem
 * on failure.
 */
static int open_nameless(const char *directory, app_problem *problem) {
    static const char name[] = "/coll-kmeans.XXXXXX";
    char *path = malloc(strlen(directory) + sizeof name);
    int file = -1;
    if (path) {
        file = mkstemp(strcat(strcpy(path, directory), name));
        if (file >= 0)
            unlink(path);
    }
    if (file < 0)
        app_refuse(problem, "%s: no place for mapped points: %s", directory, strerror(errno));
    free(path);
    return file;
}

static bool map_storage(km_point_storage *storage, int file, size_t bytes, int protection,
                        uint64_t offset, const char *name, app_problem *problem) {
    storage->map = mmap(NULL, bytes, protection, MAP_SHARED, file, (off_t)offset);
    if (storage->map == MAP_FAILED) {
        storage->map = NULL;
        return app_refuse(problem, "%s: can't be mapped: %s", name, strerror(errno));
    }
    storage->map_bytes = bytes;
    return true;
}

/* Allocates BYTES of memory, in huge pages if possible, because points are read in any order. */
static void *allocate_memory(size_t bytes) {
    enum { HUGE = 1 << 21 };
    if (bytes < 2 * (size_t)HUGE || bytes > SIZE_MAX - HUGE)
        return malloc(bytes + 1);
    size_t rounded = km_quotient_up(bytes, HUGE) * HUGE;
    void *memory = aligned_alloc(HUGE, rounded);
#ifdef MADV_HUGEPAGE
    if (memory)
        madvise(memory, rounded, MADV_HUGEPAGE); /* failure only makes it slower */
#endif
    return memory;
}

bool km_point_storage_create(km_point_storage *storage, size_t bytes, const char *directory,
                             app_problem *problem) {
    *storage = (km_point_storage){.data = NULL};
    if (!directory || !bytes) {
        storage->data = allocate_memory(bytes);
        return storage->data || app_refuse(problem, "out of memory");
    }
    int file = open_nameless(directory, problem);
    if (file < 0)
        return false;
    /*
     * If missing disk space were noticed only when a page is written, a signal would end the
     * program.
     */
    int error = posix_fallocate(file, 0, (off_t)bytes);
    bool good = !error || app_refuse(problem, "%s: no place for %zu bytes of points: %s", directory,
                                     bytes, strerror(error));
    good = good && map_storage(storage, file, bytes, PROT_READ | PROT_WRITE, 0, directory, problem);
    close(file);
    storage->data = storage->map;
    return good;
}

bool km_point_storage_map_file(km_point_storage *storage, const char *path, uint64_t offset,
                               size_t bytes, app_problem *problem) {
    uint64_t within = offset % (uint64_t)sysconf(_SC_PAGESIZE);
    *storage = (km_point_storage){.data = NULL};
    int file = km_open(path, problem);
    if (file < 0)
        return false;
    bool good = map_storage(storage, file, bytes + (size_t)within, PROT_READ, offset - within, path,
                            problem);
    close(file);
    if (good)
        storage->data = (uint8_t *)storage->map + within;
    return good;
}

void km_point_storage_free(km_point_storage *storage) {
    if (storage->map)
        munmap(storage->map, storage->map_bytes);
    else
        free(storage->data);
    *storage = (km_point_storage){.data = NULL};
}
