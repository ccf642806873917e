/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests output files: a file is complete under its name or does not exist, and none overwrites
 * another.
 */
#include "config.h"

#include "app/files.h"
#include "app/output.h"
#include "tests/support/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/coll-result-XXXXXX";
static char path[sizeof directory + 8];

static void setup(void) {
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out", directory);
}

static void teardown(void) {
    unlink(path);
    ck_assert_int_eq(rmdir(directory),
                     0); /* this succeeds only if nothing else is left in the directory */
}

static int files_in_directory(void) {
    DIR *listing = opendir(directory);
    int count = 0;
    ck_assert_ptr_nonnull(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count - 2;
}

/* Writes a file as another program would. */
static void put(const char *name, const char *content) {
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(content, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void expect(const char *name, const char *content) {
    char got[64] = "";
    FILE *file = fopen(name, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(got, 1, sizeof got - 1, file), strlen(content));
    fclose(file);
    ck_assert_str_eq(got, content);
}

static void write_new(const char *name) {
    app_output file;
    app_problem problem = {""};
    ck_assert_msg(app_output_open(&file, name, &problem) &&
                      app_output_write(&file, "new", 3, &problem) &&
                      app_output_commit(&file, &problem),
                  "%s", problem.text);
    app_output_discard(&file);
}

START_TEST(appears_when_kept) {
    app_output file;
    app_problem problem = {""};
    char content[16] = "";
    mode_t mask = umask(027);
    ck_assert(app_output_open(&file, path, &problem));
    umask(mask);
    ck_assert(app_output_write(&file, "whole", 5, &problem));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(app_output_finish(&file, &problem));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(app_output_keep(&file, &problem));
    app_output_discard(&file);
    ck_assert_int_eq(files_in_directory(), 1);

    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_int_eq(about.st_mode & 0777, 0640);
    FILE *in = fopen(path, "r");
    ck_assert_ptr_nonnull(in);
    ck_assert_uint_eq(fread(content, 1, sizeof content, in), 5);
    fclose(in);
    ck_assert_str_eq(content, "whole");
}
END_TEST

START_TEST(discard_leaves_nothing) {
    app_output file;
    app_problem problem = {""};
    ck_assert(app_output_open(&file, path, &problem));
    app_output_discard(&file);
    ck_assert(app_output_open(&file, path, &problem));
    ck_assert(app_output_finish(&file, &problem));
    app_output_discard(&file);
    app_output_discard(&file);
    ck_assert_int_eq(files_in_directory(), 0);
}
END_TEST

/*
 * A limit on the size of files emulates a full disk: a write is cut short, and the next one fails.
 */
START_TEST(full_disk) {
    static const char data[8192];
    struct rlimit before, tight;
    app_output file;
    app_problem problem = {""};
    ck_assert(app_output_open(&file, path, &problem));
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = (struct rlimit){5000, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
    bool good = app_output_write(&file, data, sizeof data, &problem);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert(!good);
    ck_assert(strstr(problem.text, "/out: can't be written: File too large"));
    app_output_discard(&file);
    ck_assert_int_eq(files_in_directory(), 0);
}
END_TEST

static bool check(const char *name, app_problem *problem) {
    *problem = (app_problem){""};
    return app_output_check(name, problem);
}

START_TEST(checks_before_work) {
    app_problem problem = {""};
    char inside[sizeof path + 8];
    ck_assert(check(path, &problem));
    put(path, "");
    ck_assert(check(path, &problem));
    snprintf(inside, sizeof inside, "%s/x", path);
    ck_assert(!check(inside, &problem));
    ck_assert(strstr(problem.text, "/out/x: can't be written: Not a directory"));
    ck_assert(!check("", &problem));
    ck_assert(strstr(problem.text, "the name of a file to be written is empty"));
    ck_assert(!check(directory, &problem));
    ck_assert(strstr(problem.text, "it is a directory"));
    ck_assert(!check("/tmp/no-such-directory/x", &problem));
    ck_assert(strstr(problem.text, "directory /tmp/no-such-directory: No such file"));
}
END_TEST

/* An existing file is unchanged until the end. The new one has its permissions. */
START_TEST(replaces_at_the_end) {
    app_output file;
    app_problem problem = {""};
    struct stat about;
    put(path, "old");
    ck_assert_int_eq(chmod(path, 0604), 0);
    ck_assert(app_output_open(&file, path, &problem));
    ck_assert(app_output_write(&file, "new", 3, &problem));
    expect(path, "old");
    app_output_discard(&file);
    expect(path, "old");
    write_new(path);
    expect(path, "new");
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_int_eq(about.st_mode & 0777, 0604);
    ck_assert_int_eq(files_in_directory(), 1);
}
END_TEST

/* The target of a link is replaced or created; the link is unchanged. */
START_TEST(follows_links) {
    char link[sizeof path + 8];
    struct stat about;
    snprintf(link, sizeof link, "%s/link", directory);
    ck_assert_int_eq(symlink("out", link), 0);
    for (int i = 0; i < 2; i++) {
        write_new(link);
        expect(path, "new");
        ck_assert_int_eq(lstat(link, &about), 0);
        ck_assert(S_ISLNK(about.st_mode));
    }
    ck_assert_int_eq(files_in_directory(), 2);
    ck_assert_int_eq(unlink(link), 0);
}
END_TEST

/* Pipes and devices are written to and not replaced. */
START_TEST(writes_to_what_is_no_file) {
    struct stat about;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    ck_assert_int_ge(reader, 0);
    write_new(path);
    char got[8] = "";
    ck_assert_int_eq(read(reader, got, sizeof got), 3);
    ck_assert_str_eq(got, "new");
    close(reader);
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert(S_ISFIFO(about.st_mode));
    ck_assert_int_eq(files_in_directory(), 1);
    write_new("/dev/null");
    ck_assert_int_eq(stat("/dev/null", &about), 0);
    ck_assert(S_ISCHR(about.st_mode));
}
END_TEST

/* If standard output is a file, data for /dev/stdout is appended to it. */
START_TEST(adds_to_standard_output) {
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    int before = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(out), STDOUT_FILENO);
    bool good = write(STDOUT_FILENO, "table ", 6) == 6;
    write_new("/dev/stdout");
    dup2(before, STDOUT_FILENO);
    close(before);
    fclose(out);
    ck_assert(good);
    expect(path, "table new");
}
END_TEST

START_TEST(loses_standard_output) {
    app_problem first = {""}, second = {""};
    ck_assert(app_output_flush_stdout(&first));
    int before = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    printf("line\n");
    bool now = app_output_flush_stdout(&first), earlier = app_output_flush_stdout(&second);
    dup2(before, STDOUT_FILENO);
    clearerr(stdout);
    close(before);
    close(full);
    ck_assert(!now && !earlier);
    ck_assert_str_eq(first.text, "the output can't be written: No space left on device");
    ck_assert_str_eq(second.text, "the output can't be written");
}
END_TEST

/*
 * However a program ends, the old file is complete. Only kill -9 leaves a hidden file in its
 * directory.
 */
START_TEST(ends_of_a_program) {
    static const int signals[] = {0, SIGTERM, SIGKILL};
    put(path, "old");
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            app_output file;
            app_problem problem = {""};
            signal(SIGTERM, SIG_DFL); /* Check has changed this */
            if (!app_output_open(&file, path, &problem) ||
                !app_output_write(&file, "new", 3, &problem))
                _exit(2);
            if (signals[i])
                raise(signals[i]);
            exit(1);
        }
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        expect(path, "old");
        ck_assert_int_eq(files_in_directory(), signals[i] == SIGKILL ? 2 : 1);
    }
    DIR *listing = opendir(directory);
    ck_assert_ptr_nonnull(listing);
    int found = 0;
    for (struct dirent *entry; (entry = readdir(listing));)
        if (app_output_is_temporary(entry->d_name, path)) {
            ck_assert_int_eq(unlinkat(dirfd(listing), entry->d_name, 0), 0);
            found++;
        }
    closedir(listing);
    ck_assert_int_eq(found, 1);
    ck_assert(!app_output_is_temporary("out", path));
    ck_assert(!app_output_is_temporary(".out.coll-12345", path));
    ck_assert(!app_output_is_temporary(".out.coll-12345-", path));
    ck_assert(!app_output_is_temporary(".oux.coll-123456", path));
}
END_TEST

static bool may_write(const char *one, const char *other, const char *input, app_problem *problem) {
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--one", &one, 1, NULL},
                                  {APP_FILE_READ, "INPUT", &input, 1, NULL},
                                  {APP_FILE_WRITTEN, "--other", &other, 1, NULL}};
    *problem = (app_problem){""};
    return app_files_check(files, 3, problem);
}

/* Files are compared by identity, not by name. */
START_TEST(tells_files_apart) {
    app_problem problem = {""};
    char dotted[sizeof path + 16], link[sizeof path + 16], hard[sizeof path + 16];
    snprintf(dotted, sizeof dotted, "%s/./out", directory);
    snprintf(link, sizeof link, "%s/link", directory);
    snprintf(hard, sizeof hard, "%s/hard", directory);
    ck_assert_int_eq(symlink("out", link), 0);
    for (int there = 0; there < 2; there++) {
        ck_assert(may_write(path, hard, NULL, &problem));
        ck_assert(!may_write(path, path, NULL, &problem));
        ck_assert(!may_write(path, dotted, NULL, &problem));
        ck_assert(!may_write(link, path, NULL, &problem));
        ck_assert(strstr(problem.text, "/link and --other /"));
        ck_assert(strstr(problem.text, "/out name the same file"));
        put(path, "");
    }
    ck_assert(!may_write(path, NULL, path, &problem));
    ck_assert(!may_write(NULL, path, link, &problem));
    ck_assert(!may_write(dotted, NULL, link, &problem));
    ck_assert(strstr(problem.text, "/./out: is also read, as INPUT "));
    ck_assert_int_eq(linkat(AT_FDCWD, path, AT_FDCWD, hard, 0), 0);
    ck_assert(!may_write(path, hard, NULL, &problem));
    ck_assert(!may_write(hard, NULL, path, &problem));
    ck_assert(!may_write(hard, NULL, directory, &problem));
    ck_assert(strstr(problem.text, "is also read, as INPUT"));
    ck_assert(may_write("/dev/null", "/dev/null", "/dev/null", &problem));
    ck_assert_int_eq(unlink(hard) | unlink(link), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("output");
    TCase *cases = tcase_create("output");
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, appears_when_kept);
    tcase_add_test(cases, discard_leaves_nothing);
    tcase_add_test(cases, full_disk);
    tcase_add_test(cases, checks_before_work);
    tcase_add_test(cases, replaces_at_the_end);
    tcase_add_test(cases, follows_links);
    tcase_add_test(cases, writes_to_what_is_no_file);
    tcase_add_test(cases, adds_to_standard_output);
    tcase_add_test(cases, loses_standard_output);
    tcase_add_test(cases, ends_of_a_program);
    tcase_add_test(cases, tells_files_apart);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
