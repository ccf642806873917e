/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/words/bags.h"

#include "kmeans/points/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *bags_norm_name(int norm) {
    static const char *const names[] = {
        [BAG_COUNTS] = "counts", [BAG_L1] = "l1", [BAG_L2] = "l2", [BAG_HELLINGER] = "hellinger"};
    return norm <= BAG_HELLINGER ? names[norm] : NULL;
}

uint64_t bags_bins(uint64_t words, uint64_t levels) {
    uint64_t cells = 0;
    for (uint64_t level = 0; level < levels; level++)
        cells += UINT64_C(1) << 2 * level;
    return words * cells;
}

static bool append_use(struct bags *bags, uint64_t use, app_problem *problem) {
    if (!km_grow(&bags->uses, bags->count, &bags->room, sizeof *bags->uses))
        return app_refuse(problem, "out of memory");
    bags->uses[bags->count++] = use;
    return true;
}

bool bags_add(struct bags *bags, size_t image, const patch_place *place, size_t patch,
              uint32_t word, app_problem *problem) {
    uint64_t first = image * bags_bins(bags->words, bags->levels);
    for (uint64_t level = 0; level < bags->levels; level++) {
        /* Uses twice the centre's coordinates, as the centre may be between pixels. */
        uint64_t side = UINT64_C(1) << level;
        uint64_t column = (2 * place->x + patch) * side / (2 * place->width);
        uint64_t row = (2 * place->y + patch) * side / (2 * place->height);
        if (!append_use(bags, first + (row * side + column) * bags->words + word, problem))
            return false;
        first += side * side * bags->words;
    }
    return true;
}

static int compare_uses(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static size_t run_length(const uint64_t *uses, size_t count) {
    size_t length = 1;
    while (length < count && uses[length] == uses[0])
        length++;
    return length;
}

/* Returns the factor for the counts, or for their roots with BAG_HELLINGER. */
static double factor_of(bag_norm norm, const uint64_t *uses, size_t count) {
    double squares = 0;
    switch (norm) {
    case BAG_COUNTS:
        break;
    case BAG_L1:
        return 1 / (double)count;
    case BAG_L2:
        for (size_t at = 0, length; at < count; at += length) {
            length = run_length(uses + at, count - at);
            squares += (double)length * (double)length;
        }
        return 1 / sqrt(squares);
    case BAG_HELLINGER:
        return 1 / sqrt((double)count);
    }
    return 1;
}

bool text_reserve(struct text *text, size_t room, app_problem *problem) {
    if (room <= text->room)
        return true;
    char *bytes = realloc(text->bytes, room);
    if (!bytes)
        return app_refuse(problem, "out of memory");
    text->bytes = bytes;
    text->room = room;
    return true;
}

/* Makes room for a label, or for a bin and its value. */
static bool make_room(struct text *text, app_problem *problem) {
    enum { LONGEST = 64, LEAST = 1 << 16 };
    return text->size + LONGEST <= text->room ||
           text_reserve(text, 2 * text->room + LEAST, problem);
}

/* Writes a line for COUNT sorted uses, whose bins are numbered from FIRST. */
static bool write_line(struct text *text, int32_t label, bag_norm norm, const uint64_t *uses,
                       size_t count, uint64_t first, app_problem *problem) {
    char value[32] = "";
    size_t value_of = 0; /* the count that VALUE belongs to */
    double factor = factor_of(norm, uses, count);
    if (!make_room(text, problem))
        return false;
    text->size += (size_t)sprintf(text->bytes + text->size, "%" PRId32, label);
    for (size_t at = 0, length; at < count; at += length) {
        length = run_length(uses + at, count - at);
        if (length != value_of) {
            double root = norm == BAG_HELLINGER ? sqrt((double)length) : (double)length;
            snprintf(value, sizeof value, "%.6g", root * factor);
            value_of = length;
        }
        if (!make_room(text, problem))
            return false;
        text->size += (size_t)sprintf(text->bytes + text->size, " %" PRIu64 ":%s",
                                      uses[at] - first + 1, value);
    }
    text->bytes[text->size++] = '\n';
    return true;
}

bool bags_write(struct bags *bags, const int32_t *labels, const bool *kept, size_t images,
                struct text *text, app_problem *problem) {
    uint64_t bins = bags_bins(bags->words, bags->levels);
    size_t at = 0;
    bool good = true;
    if (bags->count)
        qsort(bags->uses, bags->count, sizeof *bags->uses, compare_uses);
    for (size_t image = 0; good && image < images; image++) {
        size_t count = 0;
        while (at + count < bags->count && bags->uses[at + count] < (image + 1) * bins)
            count++;
        if (kept[image])
            good = write_line(text, labels[image], bags->norm, bags->uses + at, count, image * bins,
                              problem);
        at += count;
    }
    bags->count = 0;
    return good;
}
