/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of libFuzzer: its input has the name of a reader, a newline, and the bytes of a file.
 * See scripts/fuzz.
 */
#include "tests/fuzz/reading.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/fuzz-readers-XXXXXX";

static void remove_folder(void) {
    rmdir(folder);
}

static const file_reader *find(const char *name, size_t length) {
    const file_reader *at = readers;
    while (at->name && (strlen(at->name) != length || memcmp(at->name, name, length) != 0))
        at++;
    return at->name ? at : NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const uint8_t *end = memchr(bytes, '\n', size);
    const file_reader *reader = end ? find((const char *)bytes, (size_t)(end - bytes)) : NULL;
    char path[64];
    app_problem problem = {""};
    if (!reader)
        return -1;
    snprintf(path, sizeof path, "%s/%s", folder, reader->name);
    FILE *file = fopen(path, "wb");
    size_t rest = size - (size_t)(end + 1 - bytes);
    if (!file || fwrite(end + 1, 1, rest, file) != rest || fclose(file))
        abort();
    if (!reader->read(path, &problem) && !problem_names(&problem, reader->name))
        abort();
    unlink(path);
    return 0;
}
