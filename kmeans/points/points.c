/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/points.h"

#include "kmeans/points/fixed_point.h"
#include "kmeans/points/format.h"
#include "kmeans/points/memory.h"

#include <coll.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const km_format *const formats[] = {
    &km_format_hdf5, &km_format_npy,    &km_format_vecs, &km_format_bin,
    &km_format_idx,  &km_format_idx_gz, &km_format_text,
};

void km_share(uint64_t total, int rank, int ranks, uint64_t *first, uint64_t *count) {
    uint64_t place = (uint64_t)rank, each = total / (uint64_t)ranks, more = total % (uint64_t)ranks;
    *first = place * each + (place < more ? place : more);
    *count = each + (place < more);
}

km_points km_points_share(uint64_t total, size_t dim, MPI_Comm comm) {
    km_points share = {.dim = dim, .total = total};
    uint64_t rows;
    km_share(total, app_rank(comm), app_ranks(comm), &share.first, &rows);
    share.rows = (size_t)rows;
    return share;
}

/* --- The list of files --- */

/* The files of points, in the byte order of their paths, whatever order the command line has. */
typedef struct km_paths {
    const char **paths;
    size_t count;
    char *bytes; /* storage of the strings */
} km_paths;

/* Paths one after the other, each with its terminating zero. */
typedef struct path_bytes {
    char *bytes;
    size_t used;
    uint64_t count;
} path_bytes;

/* Adds DIRECTORY/NAME, or NAME alone if DIRECTORY is NULL. */
static bool append_path(path_bytes *list, const char *directory, const char *name,
                        app_problem *problem) {
    size_t size = (directory ? strlen(directory) + 1 : 0) + strlen(name) + 1;
    char *bytes = realloc(list->bytes, list->used + size);
    if (!bytes)
        return app_refuse(problem, "out of memory");
    list->bytes = bytes;
    snprintf(bytes + list->used, size, "%s%s%s", directory ? directory : "", directory ? "/" : "",
             name);
    list->used += size;
    list->count++;
    return true;
}

static bool append_directory(path_bytes *list, const char *path, app_problem *problem) {
    uint64_t before = list->count;
    struct dirent *entry;
    DIR *directory = opendir(path);
    if (!directory)
        return app_refuse(problem, "%s: can't be opened: %s", path, strerror(errno));
    bool good = true;
    for (errno = 0; good && (entry = readdir(directory)); errno = 0)
        if (entry->d_name[0] != '.')
            good = append_path(list, path, entry->d_name, problem);
    if (good && errno)
        good = app_refuse(problem, "%s: %s", path, strerror(errno));
    closedir(directory);
    return good &&
           (list->count > before || app_refuse(problem, "%s: is a directory without files", path));
}

static bool append_all(path_bytes *list, const char *const *paths, size_t count,
                       app_problem *problem) {
    struct stat about;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = !stat(paths[i], &about) && S_ISDIR(about.st_mode)
                   ? append_directory(list, paths[i], problem)
                   : append_path(list, NULL, paths[i], problem);
    return good;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void free_paths(km_paths *files) {
    free(files->paths);
    free(files->bytes);
    *files = (km_paths){.paths = NULL};
}

/*
 * Lists the files at the COUNT PATHS. If a path is a directory, lists instead the files in it whose
 * names don't begin with a dot. A file that is named twice is listed twice. Rank 0 reads the
 * directories; on false all ranks have the same problem. free_paths frees FILES.
 */
static bool expand_paths(const char *const *paths, size_t count, MPI_Comm comm, km_paths *files,
                         app_problem *problem) {
    int rank = app_rank(comm);
    path_bytes list = {.bytes = NULL};
    *files = (km_paths){.paths = NULL};
    if (rank == 0)
        append_all(&list, paths, count, problem);
    if (!app_agree(problem, comm))
        goto free_bytes;
    uint64_t sizes[] = {list.used, list.count};
    app_mpi(problem, MPI_Bcast(sizes, 2, MPI_UINT64_T, 0, comm));
    if (rank > 0)
        list.bytes = malloc(sizes[0] + 1);
    files->paths = calloc(sizes[1] + 1, sizeof *files->paths);
    if (!list.bytes || !files->paths)
        app_refuse(problem, "out of memory");
    if (!app_agree(problem, comm))
        goto free_bytes;
    app_mpi(problem, COLL_Bcast(list.bytes, (MPI_Count)sizes[0], MPI_CHAR, 0, comm));
    if (!app_agree(problem, comm))
        goto free_bytes;
    files->bytes = list.bytes;
    files->count = sizes[1];
    for (size_t i = 0, at = 0; i < files->count; at += strlen(list.bytes + at) + 1)
        files->paths[i++] = list.bytes + at;
    qsort(files->paths, files->count, sizeof *files->paths, compare_paths);
    return true;
free_bytes:
    free(list.bytes);
    free_paths(files);
    return false;
}

char *km_points_file(const char *path) {
    struct stat about;
    const char *end = path + strlen(path);
    if (stat(path, &about))
        for (const char *at = path; (at = strstr(at, ":/")); at++)
            if (at > path)
                end = at;
    return strndup(path, (size_t)(end - path));
}

char **km_points_files(const char *const *paths, size_t count) {
    char **files = calloc(count + 1, sizeof *files);
    bool good = files;
    for (size_t i = 0; good && i < count; i++)
        good = (files[i] = km_points_file(paths[i]));
    if (good)
        return files;
    km_points_files_free(files);
    return NULL;
}

void km_points_files_free(char **files) {
    for (size_t i = 0; files && files[i]; i++)
        free(files[i]);
    free(files);
}

/* --- Their contents --- */

/* Sets the members of SOURCE that follow from PATH. */
static void set_path(km_source *source, const char *path, app_problem *problem) {
    source->path = path;
    source->file = km_points_file(path);
    if (!source->file)
        app_refuse(problem, "out of memory");
    else if (path[strlen(source->file)])
        source->dataset = path + strlen(source->file) + 1;
}

/* Finds the format and layout of a file; *WHICH becomes the index of the format. */
static bool read_layout(km_source *source, size_t *which, app_problem *problem) {
    unsigned char head[8];
    struct stat about;
    bool good = false;
    int file = km_open(source->file, problem);
    if (file < 0)
        return false;
    if (fstat(file, &about)) {
        app_refuse(problem, "%s: %s", source->path, strerror(errno));
        goto close_file;
    }
    source->layout.bytes = (uint64_t)about.st_size;
    size_t count = about.st_size < (off_t)sizeof head ? (size_t)about.st_size : sizeof head;
    if (!km_read_at(file, source->path, 0, head, count, problem))
        goto close_file;
    size_t format = 0;
    while (!formats[format]->recognise(source->file, head, count))
        format++;
    *which = format;
    good = source->dataset && formats[format] != &km_format_hdf5
               ? app_refuse(problem, "%s: %s is no HDF5 file; leave out :%s", source->path,
                            source->file, source->dataset)
               : formats[format]->describe(file, source, problem);
close_file:
    close(file);
    return good;
}

static bool check_dim(const km_source *source, const km_source *first, app_problem *problem) {
    uint64_t dim = source->layout.dim;
    if (dim < 1 || dim > KM_MAX_DIM)
        return app_refuse(problem, "%s: has %" PRIu64 " features a row; 1 to %d are allowed",
                          source->path, dim, KM_MAX_DIM);
    if (dim != first->layout.dim)
        return app_refuse(problem, "%s: has %" PRIu64 " features a row where %s has %" PRIu64,
                          source->path, dim, first->path, first->layout.dim);
    return true;
}

/* Finds the layout of a file on rank 0, sends it to all ranks, and completes it there. */
static bool share_layout(km_source *source, const km_source *first, MPI_Comm comm,
                         app_problem *problem) {
    struct {
        km_layout layout;
        size_t format;
    } description = {.format = 0};
    if (app_rank(comm) == 0 && read_layout(source, &description.format, problem)) {
        check_dim(source, first, problem);
        description.layout = source->layout;
    }
    if (!app_agree(problem, comm))
        return false;
    app_mpi(problem, MPI_Bcast(&description, sizeof description, MPI_BYTE, 0, comm));
    if (!app_agree(problem, comm))
        return false;
    source->layout = description.layout;
    source->format = formats[description.format];
    return !source->format->index || source->format->index(source, comm, problem);
}

size_t km_row_bytes(const km_points *points) {
    return points->dim * (points->real.used ? sizeof(float) : 1);
}

size_t km_centroids_bytes(const km_points *points, size_t k) {
    return k * km_row_bytes(points) * (points->fixed_point ? KM_PLANES : 1);
}

bool km_points_use_fixed_point(km_points *points, app_problem *problem) {
    if (points->dim > KM_FIXED_POINT_MAX_DIM)
        return app_refuse(problem, "points of %zu features: at most %d allow --centroids-as float",
                          points->dim, KM_FIXED_POINT_MAX_DIM);
    points->fixed_point = true;
    points->real.total = km_points_weight(points);
    return true;
}

bool km_points_use_reals(km_points *points, const char *directory, MPI_Comm comm,
                         app_problem *problem) {
    size_t features = points->rows * points->dim;
    km_point_storage storage = {.data = NULL};
    km_point_storage_create(&storage, features * sizeof(float), directory, problem);
    if (!app_agree(problem, comm)) {
        km_point_storage_free(&storage);
        return false;
    }
    for (size_t i = 0; i < features; i++)
        ((float *)storage.data)[i] = points->data[i];
    km_point_storage_free(&points->storage);
    points->storage = storage;
    points->data = storage.data;
    return km_real_center(points, NULL, 1, comm, problem);
}

bool km_points_use_cosine(km_points *points, const char *directory, MPI_Comm comm,
                          app_problem *problem) {
    if (!points->real.used && !km_points_use_reals(points, directory, comm, problem))
        return false;
    for (size_t i = 0; i < points->rows; i++) {
        float *row = (float *)points->data + i * points->dim;
        for (size_t d = 0; d < points->dim; d++)
            row[d] = km_real_feature(&points->real, d, row[d]);
        if (!km_real_scale_to_unit(row, points->dim))
            app_refuse(problem,
                       "row %" PRIu64
                       " (counted from 0) is 0 and has no direction, as cosine needs; "
                       "leave it out",
                       points->first + i);
    }
    if (!app_agree(problem, comm))
        return false;
    km_real_free(&points->real);
    if (!km_real_center(points, NULL, 1, comm, problem))
        return false;
    points->real.unit = true;
    return true;
}

double km_points_distance(const km_points *points, uint32_t distance2) {
    if (points->real.used)
        return sqrt(km_real_value(distance2)) / points->real.scale;
    return sqrt(points->fixed_point ? km_real_value(distance2) : distance2);
}

double km_points_objective(const km_points *points, uint64_t objective) {
    double sum = (double)objective;
    if (km_has_real_distances(points))
        memcpy(&sum, &objective, sizeof sum);
    if (points->real.used)
        sum = sum / points->real.scale / points->real.scale;
    return ldexp(sum, -points->weight_bits);
}

/*
 * Reads this rank's rows that are in SOURCE. OFFSET is the number of SOURCE's first row among the
 * rows of all files.
 */
static bool read_part(const km_source *source, uint64_t offset, const km_points *points,
                      app_problem *problem) {
    uint64_t begin = points->first > offset ? points->first : offset;
    uint64_t end = points->first + points->rows, limit = offset + source->layout.rows;
    if (end > limit)
        end = limit;
    if (begin >= end)
        return true;
    int file = km_open(source->file, problem);
    if (file < 0)
        return false;
    bool good = source->format->read(file, source, begin - offset, (size_t)(end - begin),
                                     points->data + (begin - points->first) * km_row_bytes(points),
                                     problem);
    close(file);
    return good;
}

/* Returns whether the rows of a file have the same form in the file as in memory. */
static bool is_plain(const km_source *source) {
    return source->format->read == km_read_records && source->layout.prefix == 0 &&
           source->layout.element == NPY_UINT8;
}

/*
 * Allocates or maps storage for this rank's rows; *FILLED says whether the storage already holds
 * the rows.
 */
static bool make_storage(const km_source *sources, size_t count, const char *directory,
                         km_points *points, bool *filled, app_problem *problem) {
    const km_layout *layout = &sources[0].layout;
    size_t bytes = points->rows * km_row_bytes(points);
    *filled = directory && bytes && count == 1 && is_plain(&sources[0]);
    bool good = *filled ? km_point_storage_map_file(&points->storage, sources[0].path,
                                                    layout->start + points->first * points->dim,
                                                    bytes, problem)
                        : km_point_storage_create(&points->storage, bytes, directory, problem);
    points->data = points->storage.data;
    return good;
}

static bool read_rows(const km_source *sources, size_t count, const char *directory, MPI_Comm comm,
                      km_points *points, app_problem *problem) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += sources[i].layout.rows;
    *points = km_points_share(total, sources[0].layout.dim, comm);
    points->real.used = sources[0].reals;
    /* The objective, a sum of squared distances, must fit 63 bits. */
    if (points->total > INT64_MAX / (255 * 255) / points->dim)
        return app_refuse(problem, "%" PRIu64 " points of %zu features are too many", points->total,
                          points->dim);
    bool filled;
    app_problem storage = {""};
    if (!make_storage(sources, count, directory, points, &filled, &storage))
        return directory ? app_refuse(problem, "%s", storage.text)
                         : app_refuse(problem,
                                      "out of memory: %zu points of %zu features for one rank; "
                                      "use more nodes, or --mapped",
                                      points->rows, points->dim);
    uint64_t offset = 0;
    for (size_t i = 0; !filled && i < count; i++) {
        if (!read_part(&sources[i], offset, points, problem))
            return false;
        offset += sources[i].layout.rows;
    }
    return true;
}

/*
 * Reads this rank's share, as bytes or, if REALS, as float32. Collective; on false all ranks have
 * the same problem.
 */
static bool read_share(km_source *sources, size_t count, const char *directory, bool reals,
                       MPI_Comm comm, km_points *points, app_problem *problem) {
    km_points_free(points);
    *problem = (app_problem){""};
    for (size_t i = 0; i < count; i++)
        sources[i].reals = reals;
    read_rows(sources, count, directory, comm, points, problem);
    return app_agree(problem, comm) && (!reals || km_real_center(points, NULL, 1, comm, problem));
}

/* Returns whether all files can be read as float32, and some are not of bytes. */
static bool may_be_real(const km_source *sources, size_t count) {
    bool others = false;
    for (size_t i = 0; i < count; i++) {
        if (!sources[i].format->typed)
            return false;
        others = others || sources[i].layout.element != NPY_UINT8;
    }
    return others;
}

/* Reads the files: as bytes, or, if that fails and REALS, as float32. */
static bool read_files(const km_paths *files, const char *directory, bool reals, MPI_Comm comm,
                       km_points *points, app_problem *problem) {
    bool good;
    km_source *sources = calloc(files->count + 1, sizeof *sources);
    for (size_t i = 0; sources && i < files->count; i++)
        set_path(&sources[i], files->paths[i], problem);
    if (!sources)
        app_refuse(problem, "out of memory");
    good = app_agree(problem, comm);
    for (size_t i = 0; good && i < files->count; i++) {
        sources[i].reports = app_rank(comm) == 0;
        good = share_layout(&sources[i], &sources[0], comm, problem);
    }
    good = good && (read_share(sources, files->count, directory, false, comm, points, problem) ||
                    (reals && may_be_real(sources, files->count) &&
                     read_share(sources, files->count, directory, true, comm, points, problem)));
    for (size_t i = 0; sources && i < files->count; i++) {
        free(sources[i].lines);
        free(sources[i].file);
    }
    free(sources);
    return good;
}

bool km_points_read(const char *const *paths, size_t count, MPI_Comm comm, km_points *points,
                    app_problem *problem) {
    return km_points_load(paths, count, NULL, false, comm, points, problem);
}

bool km_points_load(const char *const *paths, size_t count, const char *directory, bool reals,
                    MPI_Comm comm, km_points *points, app_problem *problem) {
    km_paths files;
    *points = (km_points){.data = NULL};
    if (!expand_paths(paths, count, comm, &files, problem))
        return false;
    bool good = read_files(&files, directory, reals, comm, points, problem);
    free_paths(&files);
    if (!good)
        km_points_free(points);
    return good;
}

void km_points_free(km_points *points) {
    km_point_storage_free(&points->storage);
    km_real_free(&points->real);
    free(points->weights);
    *points = (km_points){.data = NULL};
}
