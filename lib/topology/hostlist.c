/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/hostlist.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 18 }; /* any number of this many digits fits into 64 bits */

/* "7" or "010-012": the numbers LOW to HIGH, of at least WIDTH digits. */
typedef struct span {
    uint64_t low, high;
    size_t width;
} span;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/*
 * Parses the number at *AT and advances *AT past it. Returns the number of digits, 0 if there is no
 * number or too many digits.
 */
static size_t parse_number(const char **at, uint64_t *number) {
    const size_t digits = strspn(*at, "0123456789");
    *number = digits ? strtoull(*at, NULL, 10) : 0;
    *at += digits;
    return digits <= MOST_DIGITS ? digits : 0;
}

static bool parse_range(const char **at, span *range) {
    range->width = parse_number(at, &range->low);
    range->high = range->low;
    if (!range->width)
        return false;
    if (**at != '-')
        return true;
    ++*at;
    return parse_number(at, &range->high) && range->low <= range->high;
}

/* Checks the bracket at *AT and advances *AT to its end. */
static bool check_bracket(const char **at) {
    do {
        span range;
        ++*at;
        if (!parse_range(at, &range))
            return false;
    } while (**at == ',');
    return **at == ']';
}

const char *coll_hostlist_fault(const char *list) {
    for (const char *at = list;; at++) {
        const char *start = at;
        for (; *at && *at != ','; at++) {
            if (strchr("]=\" \t", *at))
                return "a stray ']', '=', '\"' or space";
            if (*at == '[' && !check_bracket(&at))
                return "a bad bracket";
        }
        if (at == start)
            return "an empty name";
        if (!*at)
            return NULL;
    }
}

/* Returns the end of the list item at AT: the next comma outside brackets, or the end of the list.
 */
static const char *item_end(const char *at) {
    for (bool inside = false; *at && (inside || *at != ','); at++)
        inside = *at == '[' || (inside && *at != ']');
    return at;
}

/* Returns whether the DIGITS digits at TEXT spell a number of RANGE. */
static bool spells(const span *range, const char *text, size_t digits) {
    if (digits < range->width || (digits > range->width && *text == '0'))
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    return range->low <= number && number <= range->high;
}

/* The part of a host name that is to be matched. */
typedef struct word {
    const char *text;
    size_t length;
} word;

/*
 * Matches the bracket at AT: for each position of HOST set in FROM, sets in TO the positions that
 * follow a matching number. Returns the end of the bracket.
 */
static const char *match_bracket(const char *at, word host, const bool *from, bool *to) {
    do {
        span range;
        at++;
        parse_range(&at, &range);
        for (size_t i = 0; i < host.length; i++)
            for (size_t digits = 1; from[i] && digits <= MOST_DIGITS && i + digits <= host.length &&
                                    is_digit(host.text[i + digits - 1]);
                 digits++)
                to[i + digits] |= spells(&range, host.text + i, digits);
    } while (*at == ',');
    return at + 1;
}

/*
 * Returns whether the expression from AT to END yields HOST. Brackets can be adjacent, so a prefix
 * of the expression may match several prefixes of HOST. One pass over the expression keeps the set
 * of all positions in HOST that can be reached so far.
 */
static bool item_matches(const char *at, const char *end, word host) {
    size_t plain = 0; /* characters before the first bracket; most names differ here */
    for (; at < end && *at != '['; at++, plain++)
        if (plain == host.length || host.text[plain] != *at)
            return false;

    bool reached[COLL_HOSTLIST_NAME + 1] = {false};
    reached[plain] = true;
    while (at < end) {
        bool next[COLL_HOSTLIST_NAME + 1] = {false};
        if (*at == '[') {
            at = match_bracket(at, host, reached, next);
        } else {
            for (size_t i = 0; i < host.length; i++)
                next[i + 1] = reached[i] && host.text[i] == *at;
            at++;
        }
        memcpy(reached, next, sizeof reached);
    }
    return reached[host.length];
}

/* Returns whether LIST names HOST: as it is spelled if EXACT, else except for a domain that only
 * one of the two has. */
static bool lists_host(const char *list, const char *host, bool exact) {
    word name = {host, exact ? strlen(host) : strcspn(host, ".")};
    if (name.length > COLL_HOSTLIST_NAME)
        return false;
    for (;; list++) {
        const char *end = item_end(list),
                   *dot = exact ? NULL : memchr(list, '.', (size_t)(end - list));
        const bool one_has_domain = (host[name.length] == '.') != (dot != NULL);
        if ((exact || one_has_domain) && item_matches(list, dot ? dot : end, name))
            return true;
        if (!*end)
            return false;
        list = end;
    }
}

bool coll_hostlist_has(const char *list, const char *host) {
    return lists_host(list, host, true);
}

bool coll_hostlist_has_short(const char *list, const char *host) {
    return lists_host(list, host, false);
}

/* A name being built, and the function that receives it. */
typedef struct expansion {
    char name[COLL_HOSTLIST_NAME + 1];
    bool (*visit)(const char *name, void *context);
    void *context;
} expansion;

/*
 * Visits the names that consist of the first USED characters of the current name and an expansion
 * of the expression from AT to END. Every bracket adds a character, so the length of a name limits
 * the depth of recursion.
 */
static bool visit_expansions(expansion *names, size_t used, const char *at, const char *end) {
    for (; at < end && *at != '[' && used < COLL_HOSTLIST_NAME; at++)
        names->name[used++] = *at;
    if (at == end || used == COLL_HOSTLIST_NAME) {
        names->name[used] = '\0';
        return names->visit(names->name, names->context);
    }

    const char *behind = strchr(at, ']') + 1;
    do {
        span range;
        at++;
        parse_range(&at, &range);
        for (uint64_t number = range.low; number <= range.high; number++) {
            char digits[MOST_DIGITS + 2];
            int length = snprintf(digits, sizeof digits, "%0*" PRIu64, (int)range.width, number);
            size_t fits = COLL_HOSTLIST_NAME - used;
            if ((size_t)length < fits)
                fits = (size_t)length;
            memcpy(names->name + used, digits, fits);
            if (!visit_expansions(names, used + fits, behind, end))
                return false;
        }
    } while (*at == ',');
    return true;
}

bool coll_hostlist_visit(const char *list, bool (*visit)(const char *name, void *context),
                         void *context) {
    expansion names = {.visit = visit, .context = context};
    for (;; list++) {
        const char *end = item_end(list);
        if (!visit_expansions(&names, 0, list, end))
            return false;
        if (!*end)
            return true;
        list = end;
    }
}
