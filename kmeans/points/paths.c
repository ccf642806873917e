#include "config.h"

#include "kmeans/points/paths.h"

#include <coll.h>

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Paths one after the other, each with its final zero. */
typedef struct path_bytes {
    char *bytes;
    size_t used;
    uint64_t count;
} path_bytes;

/* Adds DIRECTORY/NAME, or NAME alone. */
static bool append(path_bytes *list, const char *directory, const char *name,
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
            good = append(list, path, entry->d_name, problem);
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
                   : append(list, NULL, paths[i], problem);
    return good;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool km_paths_expand(const char *const *paths, size_t count, MPI_Comm comm, km_paths *files,
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
    km_paths_free(files);
    return false;
}

void km_paths_free(km_paths *files) {
    free(files->paths);
    free(files->bytes);
    *files = (km_paths){.paths = NULL};
}
