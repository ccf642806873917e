/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/summary.h"

#include "lib/algorithm/operations.h"
#include "lib/base/c_locale.h"
#include "lib/base/json.h"
#include "lib/base/size.h"
#include "lib/report/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Besides the sum of all rows, a table has at most MOST_ROWS rows; if there are more, the last of
 * these is the sum of the rest. A formatted number has fewer than FIELD characters. */
enum { MOST_ROWS = 24, FIELD = 32 };

static int by_time(const void *a, const void *b) {
    const coll_report_row *one = a, *other = b;
    return (one->inside < other->inside) - (one->inside > other->inside);
}

void coll_summary_sort(coll_summary *summary) {
    if (summary->count > 0)
        qsort(summary->rows, (size_t)summary->count, sizeof *summary->rows, by_time);
}

/* Returns the sum of all rows. */
static coll_report_row sum_of(const coll_report_row rows[], int count) {
    coll_report_row sum = {.operation = ""};
    for (int i = 0; i < count; i++)
        coll_report_sum_row(&sum, &rows[i]);
    return sum;
}

/* --- Numbers --- */

static const char *print_seconds(double seconds, char text[FIELD]) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
    int i = 0;
    while (i < 2 && fabs(seconds) < 0.9995 * units[i].unit)
        i++;
    const double value = seconds / units[i].unit;
    snprintf(text, FIELD, "%.*f %s",
             fabs(value) < 9.995   ? 2
             : fabs(value) < 99.95 ? 1
                                   : 0,
             value, units[i].name);
    return text;
}

/*
 * Formats COUNT into TEXT and returns TEXT. If BYTES, counts of 1024 or more get a letter for a
 * power of 1024; else counts of a million or more get a letter for a power of 1000.
 */
static const char *print_count(double count, bool bytes, char text[FIELD]) {
    static const char letters[] = " KMGTP";
    const double step = bytes ? 1024 : 1000, most = bytes ? 1024 : 1e6;
    int i = 0;
    if (count < most) {
        snprintf(text, FIELD, "%.*f", count == floor(count) ? 0 : 1, count);
        return text;
    }
    while (count >= step && letters[i + 1]) {
        count /= step;
        i++;
    }
    snprintf(text, FIELD, "%.*f%c", count == floor(count) || count >= 100 ? 0 : 1, count,
             letters[i]);
    return text;
}

static int decimals(double most) {
    return most >= 10 ? 1 : 2;
}

/* Less than this many seconds is printed as 0. */
static const double NOTHING = 0.005;

static bool is_nothing(const coll_report_range *range) {
    return fabs(range->low) < NOTHING && fabs(range->high) < NOTHING;
}

/*
 * Returns RANGE as text, such as "1.64 (1.50..1.80)"; "0.00" if it is about 0. May overwrite TEXT.
 */
static const char *print_range(const coll_report_range *range, char text[2 * FIELD]) {
    const int digits = decimals(fmax(fabs(range->high), fabs(range->low)));
    if (is_nothing(range))
        return "0.00";
    snprintf(text, 2 * FIELD, "%.*f (%.*f..%.*f)", digits, range->middle, digits, range->low,
             digits, range->high);
    return text;
}

static coll_report_range per_rank(const coll_report_range *range, int ranks) {
    return (coll_report_range){range->low / ranks, range->middle / ranks, range->high / ranks};
}

/* Returns the average seconds of a call of ROW; for requests, from start to completion. */
static double each(const coll_report_row *row) {
    return row->completed > 0 ? row->until / row->completed : row->inside / row->calls;
}

/* Returns the seconds that the MPI library's own algorithm takes for a call; negative: unknown. */
static double native_each(const coll_report_row *row) {
    const double ran = row->inside / row->calls;
    return row->source == COLL_REPORT_NATIVE ? ran
           : row->estimated > 0              ? ran + row->saved.middle / row->estimated
                                             : -1;
}

static const char mark_of[] = {[COLL_REPORT_UNKNOWN] = ' ',
                               [COLL_REPORT_NATIVE] = '=',
                               [COLL_REPORT_MEASURED] = 'm',
                               [COLL_REPORT_ESTIMATED] = 'e',
                               [COLL_REPORT_MIXED] = '~'};

/* --- Text --- */

static void print_row(FILE *stream, const coll_summary *all, const coll_report_row *row,
                      bool is_sum) {
    char size[FIELD] = "", calls[FIELD], bytes[FIELD], time[FIELD], one[FIELD] = "",
         native[FIELD] = "-", text[2 * FIELD];
    const char *saved = "-";
    const double other = native_each(row);
    if (!is_sum)
        coll_spec_print_size(coll_report_row_bytes(row), size, sizeof size);
    if (!is_sum && row->calls > 0)
        print_seconds(each(row), one);
    if (is_sum)
        *native = '\0';
    else if (other >= 0)
        print_seconds(other, native);
    if (row->estimated > 0) {
        const coll_report_range range = per_rank(&row->saved, all->ranks);
        saved = print_range(&range, text);
    }
    fprintf(stream, "%-14s %5s %6s %5s %-16s %7s %7s %7s %c %17s %4.1f\n", row->operation, size,
            print_count(row->calls / all->ranks, false, calls),
            print_count(row->bytes / all->ranks, true, bytes), row->algorithm,
            print_seconds(row->inside / all->ranks, time), one, native,
            is_sum ? ' ' : mark_of[row->source],
            row->source == COLL_REPORT_NATIVE && is_nothing(&row->saved) ? "" : saved,
            all->seconds > 0 ? 100 * row->inside / all->ranks / all->seconds : 0);
}

static void print_table(FILE *stream, const coll_summary *all) {
    const int shown = all->count <= MOST_ROWS ? all->count : MOST_ROWS - 1;
    fprintf(stream, "%-14s %5s %6s %5s %-16s %7s %7s %9s %17s %4s\n", "operation", "size", "calls",
            "bytes", "algorithm", "time", "each", "native  ", "saved, s", "%");
    for (int i = 0; i < shown; i++)
        print_row(stream, all, &all->rows[i], false);
    coll_report_row rest = sum_of(all->rows + shown, all->count - shown),
                    sum = sum_of(all->rows, all->count);
    snprintf(rest.operation, sizeof rest.operation, "%d others", all->count - shown);
    snprintf(sum.operation, sizeof sum.operation, "all");
    if (shown < all->count)
        print_row(stream, all, &rest, true);
    if (all->count > 1)
        print_row(stream, all, &sum, true);
    if (all->count > 0)
        fprintf(stream,
                "size: from this to below twice that; times: means of the ranks; native: the MPI "
                "library's\nown, = it ran, m measured, e estimated, ~ both\n");
    if (all->lost > 0)
        fprintf(stream, "%.0f further calls are in no row: there are too many rows\n", all->lost);
}

static const char *plural(int count) {
    return count == 1 ? "" : "s";
}

/* Calls get no line if they take less than this fraction of the run. */
static const double HARDLY = 0.01;

/* Calls that take this many times as long as predicted need an explanation. */
static const double LARGE = 2;

/* Megabits in a byte. */
static const double MBIT = 8e-6;

/* Prints who was late in the calls of ONE, unless they took hardly any of the run. */
static void print_late(FILE *stream, const coll_summary *all, const coll_lateness *one) {
    if (one->inside / one->ranks < HARDLY * all->seconds)
        return;
    char time[FIELD], whole[FIELD], who[128];
    const char *name = coll_operations[one->operation].name;
    if (one->waits)
        fprintf(
            stream,
            "%s on %d ranks, last %d calls: %s, of which %s (%.0f %%) waiting for the last rank\n",
            name, one->ranks, one->events, print_seconds(one->inside / one->ranks, whole),
            print_seconds(one->waiting / one->ranks, time),
            one->inside > 0 ? 100 * one->waiting / one->inside : 0);
    else
        fprintf(stream, "%s on %d ranks, last %d calls\n", name, one->ranks, one->events);
    if (one->late == COLL_LATE_HOST)
        snprintf(who, sizeof who, "a rank of host %s", coll_advice_late_host(all, one));
    else
        snprintf(who, sizeof who, "rank %d (host %s)", one->who, coll_advice_late_host(all, one));
    if (one->late == COLL_LATE_RANK || one->late == COLL_LATE_HOST)
        fprintf(stream, "    %s arrived last in %.0f %% of %d calls, %s late on median\n", who,
                100 * one->share, one->events, print_seconds(one->seconds, time));
    else if (one->late == COLL_LATE_AT_TIMES) {
        fprintf(stream, "    %s arrived last and %s late in %.0f of %d calls", who,
                print_seconds(one->seconds, time), one->share * one->events, one->events);
        if (one->period > 0)
            fprintf(stream, ", every %.2g s", one->period);
        fputc('\n', stream);
    } else if (one->late == COLL_LATE_MOVES)
        fprintf(stream,
                "    the work moves: %d ranks in turn arrived last in %.0f %% of %d calls, each "
                "in about 1/%d,\n        %s late on median\n",
                one->late_ranks, 100 * one->share, one->events, one->late_ranks,
                print_seconds(one->seconds, time));
    else if (one->late == COLL_LATE_NOBODY)
        fprintf(
            stream,
            "    no rank stands out: rank %d was last most often, in %.0f %% of %d calls%s\n",
            one->who, 100 * one->share, one->events,
            one->share > 0.5
                ? ",\n        but by too little to matter, or as it had left the call before last"
                : "");
    else if (one->events < COLL_ARRIVALS_FEWEST)
        fprintf(stream, "    too few calls to say who arrives last\n");
    else
        fprintf(stream, "    the clocks agree within %s only, too little to say who arrives last\n",
                print_seconds(all->clock_error, time));
}

/* Prints the link that is worse than the others, and the calls that are slow because of it. */
static void print_link(FILE *stream, const coll_summary *all) {
    const coll_link *link = &all->link;
    char what[128], time[FIELD], size[FIELD];
    if (!coll_advice_names_link(all))
        return;
    coll_advice_describe_link(all, what, sizeof what);
    if (link->problem == COLL_LINK_LOSES)
        fprintf(stream, "%s: TCP sent %.1f %% of the segments again, %.1f %% usually\n", what,
                100 * link->value, 100 * link->usual);
    else
        fprintf(stream, "%s: %.3g Mbit/s in the fastest connection, %.3g Mbit/s usually\n", what,
                MBIT * link->value, MBIT * link->usual);
    for (int i = 0; i < all->count; i++) {
        const coll_report_row *row = &all->rows[i];
        const double excess = coll_advice_excess(all, row);
        if (excess >= LARGE && row->inside / all->ranks >= HARDLY * all->seconds)
            fprintf(stream,
                    "    this explains why %s of %s took %.1f times as long as predicted, %s\n",
                    row->operation, print_count((double)coll_report_row_bytes(row), true, size),
                    excess, print_seconds(row->inside / all->ranks, time));
    }
}

/* Returns whether the savings of any call that libcoll ran are known. */
static bool knows_saved(const coll_summary *all) {
    for (int i = 0; i < all->count; i++)
        if (all->rows[i].estimated > 0 && all->rows[i].source != COLL_REPORT_NATIVE)
            return all->served;
    return false;
}

/* Prints the settings that leave to the MPI library the operations in which libcoll was slower.
 * SLOWER says whether libcoll was slower in all operations together. */
static void print_remedy(FILE *stream, const coll_summary *all, bool slower) {
    const char *settings[COLL_OPERATIONS];
    int count = 0;
    for (int operation = 0; operation < COLL_OPERATIONS; operation++) {
        double saved = 0;
        for (int i = 0; i < all->count; i++)
            if (strcmp(all->rows[i].operation, coll_operations[operation].name) == 0 &&
                strcmp(all->rows[i].algorithm, "native") != 0)
                saved += all->rows[i].saved.middle / all->ranks;
        if (saved < -fmax(NOTHING, HARDLY * all->seconds))
            settings[count++] = coll_operations[operation].variable;
    }
    if (count == 0 && !slower)
        return;
    fprintf(stream, "leave the slower calls to the MPI library by");
    for (int i = 0; i < count; i++)
        fprintf(stream, " %s=native", settings[i]);
    fprintf(stream, "%s\n", count == 0 ? " COLL_DISABLE=1" : "");
}

static void print_saved(FILE *stream, const coll_summary *all) {
    const coll_report_row sum = sum_of(all->rows, all->count);
    char text[2 * FIELD];
    const coll_report_range saved = per_rank(&sum.saved, all->ranks),
                            *range = all->served ? &saved : &all->would_save;
    const int digits = decimals(fmax(fabs(range->high), fabs(range->low)));
    const bool known = knows_saved(all);
    if (known && is_nothing(range))
        fprintf(stream, "estimate: libcoll saved nothing, or less than %.2f s of %s\n", 2 * NOTHING,
                print_seconds(all->seconds, text));
    else if (known && range->middle >= 0)
        fprintf(stream,
                "estimate: libcoll saved %.*f s (%.*f to %.*f) of the %s that the run would take "
                "without it\n",
                digits, range->middle, digits, range->low, digits, range->high,
                print_seconds(all->seconds + range->middle, text));
    else if (known)
        fprintf(stream, "estimate: libcoll made the run slower, by %.*f s (%.*f to %.*f) of %s\n",
                digits, -range->middle, digits, -range->high, digits, -range->low,
                print_seconds(all->seconds, text));
    else if (all->served)
        fprintf(stream, "what libcoll saved is not known: there is no estimate for these calls\n");
    else if (all->count == 0)
        fprintf(stream, "libcoll saved nothing: the program called no collectives\n");
    else
        fprintf(stream, "libcoll left all calls to the MPI library%s%s\n", all->why ? ": " : "",
                all->why ? all->why : "");
    if (!all->served && all->count > 0 && all->would_known)
        fprintf(stream, "estimate: it would have saved %.*f s (%.*f to %.*f) of %s\n", digits,
                range->middle, digits, range->low, digits, range->high,
                print_seconds(all->seconds, text));
    if (known)
        print_remedy(stream, all, range->middle < 0 && !is_nothing(range));
}

static void print_advice(FILE *stream, const coll_summary *all) {
    coll_advice advice[COLL_ADVICE_MOST];
    char seconds[FIELD];
    const int count = coll_advice_make(all, advice);
    for (int i = 0; i < count; i++)
        fprintf(stream, "%d. %s: the run would take %s%s less\n   %s\n", i + 1, advice[i].what,
                advice[i].at_most ? "at most " : "", print_seconds(advice[i].seconds, seconds),
                advice[i].setting);
}

bool coll_summary_print(FILE *stream, const void *summary) {
    const coll_summary *all = summary;
    const locale_t before = coll_c_locale_begin();
    char time[FIELD];
    fprintf(stream, "libcoll %s: %s on %d rank%s, %d host%s\n", PACKAGE_VERSION,
            print_seconds(all->seconds, time), all->ranks, plural(all->ranks), all->hosts,
            plural(all->hosts));
    if (all->missing > 0)
        fprintf(stream, "rank %d%s did not report in time and %s left out\n", all->first_missing,
                all->missing > 1 ? " and others" : "", all->missing > 1 ? "are" : "is");
    print_table(stream, all);
    for (int i = 0; i < all->late_count; i++)
        print_late(stream, all, &all->late[i]);
    print_link(stream, all);
    print_advice(stream, all);
    print_saved(stream, all);
    coll_c_locale_end(before);
    return !ferror(stream);
}

/* --- JSON --- */

/* Prints a member of an object, and the comma before the next member. */
static void print_json_text(FILE *stream, const char *key, const char *text) {
    fprintf(stream, "\"%s\": ", key);
    coll_json_write_string(stream, text);
    fputs(", ", stream);
}

static void print_json_range(FILE *stream, const char *key, const coll_report_range *range) {
    fprintf(stream, "\"%s\": {\"low\": %.9g, \"middle\": %.9g, \"high\": %.9g}", key, range->low,
            range->middle, range->high);
}

static void print_json_row(FILE *stream, const coll_summary *all, const coll_report_row *row) {
    static const char *const sources[] = {[COLL_REPORT_UNKNOWN] = "unknown",
                                          [COLL_REPORT_NATIVE] = "ran",
                                          [COLL_REPORT_MEASURED] = "measured",
                                          [COLL_REPORT_ESTIMATED] = "estimated",
                                          [COLL_REPORT_MIXED] = "mixed"};
    const coll_report_range saved = per_rank(&row->saved, all->ranks);
    const double other = native_each(row);
    fprintf(stream,
            "    {\"operation\": \"%s\", \"from_bytes\": %zu, \"algorithm\": \"%s\", "
            "\"calls\": %.17g, \"bytes\": %.17g, \"seconds\": %.9g, \"seconds_each\": %.9g, ",
            row->operation, coll_report_row_bytes(row), row->algorithm, row->calls / all->ranks,
            row->bytes / all->ranks, row->inside / all->ranks, each(row));
    if (row->completed > 0)
        fprintf(stream, "\"completed\": %.17g, ", row->completed / all->ranks);
    if (other >= 0) {
        fprintf(stream, "\"native_seconds_each\": %.9g, ", other);
        print_json_range(stream, "saved_seconds", &saved);
        fprintf(stream, ", ");
    }
    fprintf(stream, "\"native\": \"%s\", \"share\": %.6f}", sources[row->source],
            all->seconds > 0 ? row->inside / all->ranks / all->seconds : 0);
}

static void print_json_late(FILE *stream, const coll_summary *all, const coll_lateness *one) {
    static const char *const kinds[] = {[COLL_LATE_UNKNOWN] = "unknown",
                                        [COLL_LATE_NOBODY] = "nobody",
                                        [COLL_LATE_RANK] = "rank",
                                        [COLL_LATE_HOST] = "host",
                                        [COLL_LATE_AT_TIMES] = "rank at times",
                                        [COLL_LATE_MOVES] = "moves"};
    const bool rank = one->late == COLL_LATE_RANK || one->late == COLL_LATE_AT_TIMES,
               host = one->late == COLL_LATE_HOST, moves = one->late == COLL_LATE_MOVES;
    fprintf(stream, "    {\"operation\": \"%s\", \"ranks\": %d, \"calls\": %d, \"late\": \"%s\", ",
            coll_operations[one->operation].name, one->ranks, one->events, kinds[one->late]);
    if (rank)
        fprintf(stream, "\"rank\": %d, ", one->who);
    if (rank || host)
        print_json_text(stream, "host", coll_advice_late_host(all, one));
    if (moves)
        fprintf(stream, "\"late_ranks\": %d, ", one->late_ranks);
    if (rank || host || moves)
        fprintf(stream, "\"last_in\": %.4f, \"late_seconds\": %.9g, ", one->share, one->seconds);
    if (one->late == COLL_LATE_AT_TIMES && one->period > 0)
        fprintf(stream, "\"period_seconds\": %.9g, ", one->period);
    if (one->waits)
        fprintf(stream, "\"waiting_seconds\": %.9g, ", one->waiting / one->ranks);
    fprintf(stream, "\"seconds\": %.9g}", one->inside / one->ranks);
}

static void print_json_link(FILE *stream, const coll_summary *all) {
    const coll_link *link = &all->link;
    const char *unit = link->problem == COLL_LINK_LOSES ? "share" : "bytes_per_second";
    if (!coll_advice_names_link(all))
        return;
    fprintf(stream, ",\n  \"link\": {\"of\": \"%s\", ", link->uplink ? "rack" : "host");
    print_json_text(stream, "host", all->host_names[link->host]);
    fprintf(stream, "\"problem\": \"%s\", \"%s\": %.6g, \"usual_%s\": %.6g, \"seconds\": %.9g}",
            link->problem == COLL_LINK_LOSES ? "loses" : "slow", unit, link->value, unit,
            link->usual, link->seconds);
}

static void print_json_advice(FILE *stream, const coll_summary *all) {
    coll_advice advice[COLL_ADVICE_MOST];
    const int count = coll_advice_make(all, advice);
    fprintf(stream, ",\n  \"recommendations\": [");
    for (int i = 0; i < count; i++) {
        fprintf(stream, "%s\n    {\"kind\": \"%s\", ", i ? "," : "", advice[i].kind);
        if (advice[i].rank >= 0)
            fprintf(stream, "\"rank\": %d, ", advice[i].rank);
        if (advice[i].host)
            print_json_text(stream, "host", advice[i].host);
        if (advice[i].row)
            print_json_text(stream, "operation", advice[i].row->operation);
        fprintf(stream, "\"gain_seconds\": %.9g, ", advice[i].seconds);
        print_json_text(stream, "text", advice[i].what);
        fprintf(stream, "\"setting\": ");
        coll_json_write_string(stream, advice[i].setting);
        fputc('}', stream);
    }
    fprintf(stream, "\n  ]");
}

bool coll_summary_print_json(FILE *stream, const void *summary) {
    const coll_summary *all = summary;
    const locale_t before = coll_c_locale_begin();
    const coll_report_row sum = sum_of(all->rows, all->count);
    const coll_report_range saved = per_rank(&sum.saved, all->ranks);
    fprintf(stream,
            "{\n  \"version\": \"%s\", \"seconds\": %.9g, \"ranks\": %d, \"hosts\": %d, "
            "\"missing_ranks\": %d,\n  \"rows\": [",
            PACKAGE_VERSION, all->seconds, all->ranks, all->hosts, all->missing);
    for (int i = 0; i < all->count; i++) {
        fprintf(stream, i ? ",\n" : "\n");
        print_json_row(stream, all, &all->rows[i]);
    }
    fprintf(
        stream,
        "\n  ],\n  \"calls_in_no_row\": %.17g, \"clock_error_seconds\": %.9g,\n  \"arrivals\": [",
        all->lost, all->clock_error);
    for (int i = 0; i < all->late_count; i++) {
        fprintf(stream, i ? ",\n" : "\n");
        print_json_late(stream, all, &all->late[i]);
    }
    fprintf(stream, "\n  ],\n  \"collectives_seconds\": %.9g, \"libcoll_ran_calls\": %s",
            sum.inside / all->ranks, all->served ? "true" : "false");
    if (knows_saved(all)) {
        fprintf(stream, ",\n  ");
        print_json_range(stream, "saved_seconds", &saved);
    }
    if (!all->served && all->why) {
        fprintf(stream, ",\n  \"why_not\": ");
        coll_json_write_string(stream, all->why);
    }
    if (!all->served && all->would_known) {
        fprintf(stream, ",\n  ");
        print_json_range(stream, "would_save_seconds", &all->would_save);
    }
    print_json_link(stream, all);
    print_json_advice(stream, all);
    fprintf(stream, "\n}\n");
    coll_c_locale_end(before);
    return !ferror(stream);
}
