/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/files.h"

#include "app/output.h"
#include "lib/base/textfile.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WRITTEN_MOST = 8 };

/*
 * The identity of a file: its device and inode if it exists, else those of its directory, and the
 * file's name there.
 */
typedef struct identity {
    dev_t device;
    ino_t inode;
    char *name; /* NULL if the file exists */
} identity;

/* An output, and the option that names it. */
typedef struct output_claim {
    const char *option, *path;
    identity id;
} output_claim;

static bool is_same(const identity *a, const identity *b) {
    if (a->device != b->device || a->inode != b->inode || !a->name != !b->name)
        return false;
    return !a->name || strcmp(a->name, b->name) == 0;
}

/*
 * Identifies a file to be created at PATH. Returns false if its directory doesn't exist, or memory
 * is short.
 */
static bool identify_new(const char *path, identity *id) {
    struct stat about;
    char *target = app_path_follow(path), *directory = target ? app_path_directory(target) : NULL;
    bool found = directory && !stat(directory, &about);
    if (found) {
        const char *slash = strrchr(target, '/');
        *id = (identity){about.st_dev, about.st_ino, strdup(slash ? slash + 1 : target)};
    }
    free(directory);
    free(target);
    return found && id->name;
}

/*
 * Identifies the file at PATH, which need not exist yet. Returns false if it can't be identified,
 * or exists and is not a regular file.
 */
static bool identify_file(const char *path, identity *id) {
    struct stat about;
    if (stat(path, &about))
        return errno == ENOENT && identify_new(path, id);
    *id = (identity){about.st_dev, about.st_ino, NULL};
    return S_ISREG(about.st_mode);
}

static const output_claim *find_claim(const output_claim *claims, size_t count,
                                      const identity *id) {
    for (size_t i = 0; i < count; i++)
        if (is_same(&claims[i].id, id))
            return &claims[i];
    return NULL;
}

/*
 * Adds the output PATH to CLAIMS if it is a regular file or doesn't exist yet. Reports a problem if
 * PATH can't be written, CLAIMS already has an output to the same file, or CLAIMS is full.
 */
static bool add_claim(output_claim *claims, size_t *count, const char *option, const char *path,
                      app_problem *problem) {
    identity id;
    if (!app_output_check(path, problem))
        return false;
    if (!identify_file(path, &id))
        return true;
    const output_claim *other = find_claim(claims, *count, &id);
    if (!other && *count < WRITTEN_MOST) {
        claims[(*count)++] = (output_claim){option, path, id};
        return true;
    }
    free(id.name);
    return other ? app_refuse(problem, "%s %s and %s %s name the same file", other->option,
                              other->path, option, path)
                 : app_refuse(problem, "more than %d files are to be written", WRITTEN_MOST);
}

static bool check_read(const output_claim *claims, size_t count, const char *name, const char *path,
                       app_problem *problem) {
    struct stat about;
    if (stat(path, &about) || !S_ISREG(about.st_mode))
        return true;
    const output_claim *other =
        find_claim(claims, count, &(identity){about.st_dev, about.st_ino, NULL});
    return !other || app_refuse(problem, "%s %s: is also read, as %s %s; name another file",
                                other->option, other->path, name, path);
}

static bool check_directory(const output_claim *claims, size_t count, const app_file_use *use,
                            const char *path, app_problem *problem) {
    struct dirent *entry;
    DIR *directory = opendir(path);
    bool good = true;
    while (good && directory && (entry = readdir(directory))) {
        char *file = NULL;
        if (use->reads ? !use->reads(entry->d_name) : entry->d_name[0] == '.')
            continue;
        if (asprintf(&file, "%s/%s", path, entry->d_name) < 0)
            good = app_refuse(problem, "out of memory");
        else
            good = check_read(claims, count, use->name, file, problem);
        free(file);
    }
    if (directory)
        closedir(directory);
    return good;
}

static bool check_use(const output_claim *claims, size_t count, const app_file_use *use,
                      app_problem *problem) {
    struct stat about;
    bool good = true;
    for (size_t i = 0; good && i < use->count; i++) {
        const char *path = use->paths[i];
        if (path && !stat(path, &about))
            good = S_ISDIR(about.st_mode) ? check_directory(claims, count, use, path, problem)
                                          : check_read(claims, count, use->name, path, problem);
    }
    return good;
}

bool app_files_check(const app_file_use *uses, size_t count, app_problem *problem) {
    output_claim claims[WRITTEN_MOST];
    size_t claimed = 0;
    bool good = true;
    for (const app_file_use *use = uses; use < uses + count; use++)
        for (size_t i = 0; good && use->how == APP_FILE_WRITTEN && i < use->count; i++)
            good = !use->paths[i] || add_claim(claims, &claimed, use->name, use->paths[i], problem);
    for (const app_file_use *use = uses; good && use < uses + count; use++)
        if (use->how == APP_FILE_READ)
            good = check_use(claims, claimed, use, problem);
    for (size_t i = 0; i < claimed; i++)
        free(claims[i].id.name);
    return good;
}

FILE *app_files_open(const char *path, app_problem *problem) {
    FILE *file = NULL;
    int error = coll_textfile_open(path, COLL_TEXTFILE_ANY_SIZE, &file);
    if (error)
        app_refuse(problem, "%s: can't be opened: %s", path, coll_textfile_fault(error));
    return file;
}
