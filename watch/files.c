/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/files.h"

#include "watch/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Polling intervals in milliseconds: for questions of other ranks, and for answers to this rank's
 * question.
 */
enum { IDLE_PAUSE = 200, ASKING_PAUSE = 20 };
/*
 * Ages in seconds from which a question counts as abandoned, and any file as left over from an
 * earlier job.
 */
enum { OLD_QUESTION = 20, OLD_FILE = 3600 };

typedef struct question {
    uint64_t nonce, sample;
} question;

static const char kind_of_file[] = ".coll-watch-";
static char stem[PATH_MAX]; /* the names of this job's files begin with it */
static int own_rank;
static bool used, asking;
static uint64_t latest; /* nonce of the latest question asked or answered */

typedef char path[PATH_MAX + 32];

static void make_path(const char *what, int rank, path name) {
    snprintf(name, sizeof(path), rank < 0 ? "%s%s" : "%s%s%d", stem, what, rank);
}

static bool create_file(const char *name, const void *bytes, size_t length) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool written = write(fd, bytes, length) == (ssize_t)length;
    written = close(fd) == 0 && written;
    if (!written)
        unlink(name);
    return written;
}

/* Returns the contents of a file that this user owns, which the caller frees, or NULL. */
static char *read_own_file(const char *name, size_t *length) {
    struct stat about;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    bool good = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
                about.st_size > 0 && about.st_size <= WATCH_LONGEST;
    char *bytes = good ? malloc((size_t)about.st_size) : NULL;
    if (bytes && read(fd, bytes, (size_t)about.st_size) != about.st_size) {
        free(bytes);
        bytes = NULL;
    }
    close(fd);
    *length = bytes ? (size_t)about.st_size : 0;
    return bytes;
}

static bool is_older_than(const char *name, int seconds) {
    struct stat about;
    return lstat(name, &about) == 0 && about.st_uid == geteuid() &&
           about.st_mtime + seconds < time(NULL);
}

static void remove_old_files(const char *directory) {
    DIR *all = opendir(directory);
    const struct dirent *entry;
    while (all && (entry = readdir(all))) {
        path name;
        snprintf(name, sizeof name, "%.*s/%.255s", PATH_MAX - 256, directory, entry->d_name);
        if (strncmp(entry->d_name, kind_of_file, sizeof kind_of_file - 1) == 0 &&
            is_older_than(name, OLD_FILE))
            unlink(name);
    }
    if (all)
        closedir(all);
}

bool watch_files_begin(const char *directory, const watch_secret *secret, int rank, bool marks) {
    path mark;
    uint64_t job = watch_auth_code(secret, 0, kind_of_file, sizeof kind_of_file);
    own_rank = rank;
    snprintf(stem, sizeof stem, "%.*s/%s%016" PRIx64 "-", PATH_MAX - 64, directory, kind_of_file,
             job);
    if (!marks)
        return true;
    remove_old_files(directory);
    make_path("mark", -1, mark);
    return create_file(mark, "", 1);
}

bool watch_files_shared(void) {
    path mark;
    make_path("mark", -1, mark);
    return access(mark, R_OK | W_OK) == 0;
}

void watch_files_unmark(void) {
    path mark;
    make_path("mark", -1, mark);
    unlink(mark);
}

void watch_files_use(void) {
    used = true;
}

bool watch_files_used(void) {
    return used;
}

int watch_files_pause(int pause) {
    int most = asking ? ASKING_PAUSE : IDLE_PAUSE;
    return used && pause > most ? most : pause;
}

/* --- Asking --- */

bool watch_files_ask(bool sample) {
    path name;
    question asked = {.nonce = watch_auth_nonce(), .sample = sample};
    make_path("question", -1, name);
    if (is_older_than(name, OLD_QUESTION))
        unlink(name);
    asking = create_file(name, &asked, sizeof asked);
    if (asking)
        latest = asked.nonce;
    return asking;
}

char *watch_files_take(int rank, size_t *length) {
    path name;
    make_path("answer-", rank, name);
    char *bytes = read_own_file(name, length);
    if (bytes)
        unlink(name);
    return bytes;
}

void watch_files_over(int ranks) {
    path name;
    asking = false;
    make_path("question", -1, name);
    unlink(name);
    for (int rank = 0; rank < ranks; rank++) {
        make_path("answer-", rank, name);
        unlink(name);
    }
}

/* --- Answering --- */

static bool read_question(question *asked) {
    path name;
    size_t length;
    make_path("question", -1, name);
    char *bytes = read_own_file(name, &length);
    bool whole = bytes && length == sizeof *asked;
    if (whole)
        memcpy(asked, bytes, sizeof *asked);
    free(bytes);
    return whole;
}

bool watch_files_asked(bool *sample) {
    question asked;
    if (!used || asking || !read_question(&asked) || asked.nonce == latest)
        return false;
    latest = asked.nonce;
    *sample = asked.sample != 0;
    return true;
}

void watch_files_answer(const void *bytes, size_t length) {
    path part, name;
    question asked;
    make_path("part-", own_rank, part);
    make_path("answer-", own_rank, name);
    unlink(part);
    if (create_file(part, bytes, length) && rename(part, name) != 0)
        unlink(part);
    /* If the asking rank no longer waits for this answer, nobody else would remove the file. */
    if (!read_question(&asked) || asked.nonce != latest)
        unlink(name);
}
