/* Numbers as users write them. Each takes all of TEXT or is false. */
#ifndef COLL_APP_PARSE_H
#define COLL_APP_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* "4096", "64K", "16M", "1G", "2T" (powers of 1024). */
bool app_parse_size(const char *text, uint64_t *value);

/* A decimal integer within [lowest, highest]. */
bool app_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *value);

/* A finite decimal number. */
bool app_parse_number(const char *text, double *value);

#endif
