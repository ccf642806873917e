/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes as users write them: 4096, 64K, 16M, 1G, in powers of 1024. Pure: no MPI. */
#ifndef COLL_LIB_BASE_SIZE_H
#define COLL_LIB_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a size such as "4096", "64K", "16M", "1G" or "2T" from the LENGTH characters of TEXT.
 * Returns false unless all of them form one size.
 */
bool coll_spec_size(const char *text, size_t length, uint64_t *value);

/* Writes VALUE to TEXT, of SIZE bytes, in the shortest exact form: 32768 as "32K". */
void coll_spec_print_size(uint64_t value, char *text, size_t size);

#endif
