/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char units[] = "KMGT";

bool coll_spec_size(const char *text, size_t length, uint64_t *value) {
    uint64_t number = 0;
    size_t i = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (i == 0)
        return false;
    int shift = 0;
    if (i < length) {
        char letter = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
        const char *unit = letter ? strchr(units, letter) : NULL;
        if (!unit || i + 1 != length)
            return false;
        shift = 10 * (int)(unit - units + 1);
    }
    if (number > UINT64_MAX >> shift)
        return false;
    *value = number << shift;
    return true;
}

void coll_spec_print_size(uint64_t value, char *text, size_t size) {
    int unit = 0;
    while (value && value % 1024 == 0 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(text, size, "%" PRIu64 "%.1s", value, unit ? &units[unit - 1] : "");
}
