/* Output files: whole under their name, or not there at all. */
#include "config.h"

#include "kmeans/output.h"
#include "tests/harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
    ck_assert_int_eq(rmdir(directory), 0); /* so nothing else was left there */
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

START_TEST(appears_when_kept) {
    struct output file;
    struct problem problem = {""};
    char content[16] = "";
    mode_t mask = umask(027);
    ck_assert(output_open(&file, path, &problem));
    umask(mask);
    ck_assert(output_write(&file, "whole", 5, &problem));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(output_finish(&file, &problem));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(output_keep(&file, &problem));
    output_discard(&file);
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
    struct output file;
    struct problem problem = {""};
    ck_assert(output_open(&file, path, &problem));
    output_discard(&file);
    ck_assert(output_open(&file, path, &problem));
    ck_assert(output_finish(&file, &problem));
    output_discard(&file);
    output_discard(&file);
    ck_assert_int_eq(files_in_directory(), 0);
}
END_TEST

/* A limit on the size of files stands for a full disk: the write stops short, then fails. */
START_TEST(full_disk) {
    static const char data[8192];
    struct rlimit before, tight;
    struct output file;
    struct problem problem = {""};
    ck_assert(output_open(&file, path, &problem));
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = (struct rlimit){5000, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
    bool good = output_write(&file, data, sizeof data, &problem);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert(!good);
    ck_assert(strstr(problem.text, "/out: can't be written: File too large"));
    output_discard(&file);
    ck_assert_int_eq(files_in_directory(), 0);
}
END_TEST

START_TEST(checks_before_work) {
    struct problem problem = {""};
    char inside[sizeof path + 8];
    const char *const inputs[] = {path};
    ck_assert(output_check(path, inputs, 1, &problem));
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_assert(output_check(path, NULL, 0, &problem));
    ck_assert(!output_check(path, inputs, 1, &problem));
    ck_assert(strstr(problem.text, "it is also read, as points"));
    snprintf(inside, sizeof inside, "%s/x", path);
    ck_assert(!output_check(inside, NULL, 0, &problem));
    ck_assert(strstr(problem.text, "/out is no directory"));
    ck_assert(!output_check(directory, NULL, 0, &problem));
    ck_assert(strstr(problem.text, "it is there and no regular file"));
    ck_assert(!output_check("/dev/full", NULL, 0, &problem));
    ck_assert(strstr(problem.text, "it is there and no regular file"));
    ck_assert(!output_check("/tmp/no-such-directory/x", NULL, 0, &problem));
    ck_assert(strstr(problem.text, "directory /tmp/no-such-directory: No such file"));
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
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
