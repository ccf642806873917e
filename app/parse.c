#include "config.h"

#include "app/parse.h"

#include "lib/base/plain.h"
#include "lib/base/size.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool app_parse_size(const char *text, uint64_t *value) {
    return coll_spec_size(text, strlen(text), value);
}

bool app_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *value) {
    errno = 0;
    char *end;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < lowest || number > highest)
        return false;
    *value = number;
    return true;
}

bool app_parse_number(const char *text, double *value) {
    double number;
    if (!coll_plain_number(text, &number) || !isfinite(number))
        return false;
    *value = number;
    return true;
}
