/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges what was measured between hosts. */
#include "config.h"

#include "tools/doctor/judge.h"

#include "app/stats.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Quantities of a pair that are judged. More is worse. */
typedef enum quantity { LOSS, LATENCY, SLOWNESS, QUANTITIES } quantity;

/* A value is bad if it is more than FACTOR times the usual value, plus MARGIN. */
static const struct {
    doctor_kind kind;
    double factor, margin;
    const char *remedy;
} judged[QUANTITIES] = {
    [LOSS] =
        {DOCTOR_LOSS, 3, 0.004,
         "check cable, port and the switch's counters of dropped packets: ethtool -S INTERFACE"},
    [LATENCY] = {DOCTOR_LATENCY, 1.7, 100e-6,
                 "look for power saving, a long way or a tunnel: traceroute, ethtool -c INTERFACE"},
    [SLOWNESS] = {DOCTOR_RATE, 1.35, 0,
                  "compare the link's speed with that of the other hosts, and look for other "
                  "traffic: ethtool INTERFACE, sar -n DEV 1"}};

/* If more than 1/FEW of the hosts or 1/MANY of the links stand out, they are not faulty: the job
 * has several kinds of hosts or links. */
enum { FEW = 3, MANY = 12 };

/* One host or link for each quantity, so that noise in one quantity does not hide the other
 * quantities. */
static_assert((int)DOCTOR_SUSPECTS == (int)QUANTITIES, "one suspect for each quantity");

static double value_of(const doctor_pair *pair, quantity what) {
    const doctor_half *a = &pair->of_a, *b = &pair->of_b;
    switch (what) {
    case LOSS:
        return fmax(a->resent / fmax(1, a->sent), b->resent / fmax(1, b->sent));
    case LATENCY:
        return fmin(a->latency, b->latency);
    default:
        return 1 / fmin(a->rate, b->rate);
    }
}

static bool is_bad(double value, double usual, quantity what) {
    return value > judged[what].factor * usual + judged[what].margin;
}

/* Returns value_of() without the time for which the ranks waited for a processor. */
static double value_if_running(const doctor_pair *pair, quantity what) {
    const doctor_half *a = &pair->of_a, *b = &pair->of_b;
    double held_up = 0;
    if (what == LATENCY)
        held_up = fmin(1, a->held_up.latency + b->held_up.latency);
    else if (what == SLOWNESS)
        held_up = fmin(1, a->held_up.rate + b->held_up.rate);
    return value_of(pair, what) * (1 - held_up);
}

static bool has(const doctor_pair *pair, int host) {
    return pair->a == host || pair->b == host;
}

/* Returns the lower median of HOST's pairs; NAN if it has none. If HOST is bad, all its pairs are
 * bad, else only its pairs with bad hosts. */
static double host_value(const doctor_job *job, int host, quantity what) {
    double values[2 * DOCTOR_ROUNDS];
    int count = 0;
    for (int p = 0; p < job->pair_count && count < 2 * DOCTOR_ROUNDS; p++)
        if (has(&job->pairs[p], host))
            values[count++] = value_of(&job->pairs[p], what);
    if (count == 0)
        return NAN;
    app_stats_sort(values, count);
    return values[(count - 1) / 2];
}

double doctor_host_latency(const doctor_job *job, int host) {
    const double value = host_value(job, host, LATENCY);
    return isnan(value) ? 0 : value;
}

double doctor_host_rate(const doctor_job *job, int host) {
    const double value = host_value(job, host, SLOWNESS);
    return isnan(value) ? 0 : 1 / value;
}

double doctor_host_ahead(const doctor_job *job, int host) {
    double values[2 * DOCTOR_ROUNDS];
    int count = 0;
    for (int p = 0; p < job->pair_count && count < 2 * DOCTOR_ROUNDS; p++) {
        const doctor_pair *pair = &job->pairs[p];
        if (has(pair, host))
            values[count++] = pair->a == host ? -pair->of_a.ahead : pair->of_a.ahead;
    }
    return count > 0 ? app_stats_median(values, count) : 0;
}

/* --- Suspects --- */

/* For each quantity, the median of the hosts' values; 0 if none is known. */
typedef struct usual_values {
    double of[QUANTITIES];
} usual_values;

static bool find_usual_values(const doctor_job *job, usual_values *usual) {
    double *values = malloc((size_t)job->hosts * sizeof *values);
    if (!values)
        return false;
    for (int what = 0; what < QUANTITIES; what++) {
        int known = 0;
        for (int host = 0; host < job->hosts; host++)
            if (!isnan(host_value(job, host, (quantity)what)))
                values[known++] = host_value(job, host, (quantity)what);
        usual->of[what] = known > 0 ? app_stats_median(values, known) : 0;
    }
    free(values);
    return true;
}

static bool is_bad_host(const doctor_job *job, const usual_values *usual, int host) {
    for (int what = 0; what < QUANTITIES; what++)
        if (is_bad(host_value(job, host, (quantity)what), usual->of[what], (quantity)what))
            return true;
    return false;
}

/* Returns the good host other than BUT to which messages of HOST take the least time; -1: there is
 * none. */
static int find_near(const doctor_job *job, const usual_values *usual, int host, int but) {
    const doctor_pair *best = NULL;
    for (int p = 0; p < job->pair_count; p++) {
        const doctor_pair *pair = &job->pairs[p];
        const int other = pair->a == host ? pair->b : pair->a;
        if (has(pair, host) && other != but && !is_bad_host(job, usual, other) &&
            (!best || value_of(pair, LATENCY) < value_of(best, LATENCY)))
            best = pair;
    }
    return !best ? -1 : best->a == host ? best->b : best->a;
}

static bool is_suspect_host(const doctor_suspect suspects[], int count, int host) {
    for (int s = 0; s < count; s++)
        if (suspects[s].host == host && suspects[s].other < 0)
            return true;
    return false;
}

/* Adds the worst in WHAT of the bad hosts that are no suspects yet, if few hosts are bad and the
 * worst one has two good hosts to be measured with. Returns the new COUNT. */
static int suspect_host(const doctor_job *job, const usual_values *usual, quantity what,
                        doctor_suspect suspects[], int count) {
    int worst = -1, bad = 0;
    for (int host = 0; host < job->hosts; host++) {
        const double value = host_value(job, host, what);
        if (!is_bad(value, usual->of[what], what))
            continue;
        bad++;
        if (!is_suspect_host(suspects, count, host) &&
            (worst < 0 || value > host_value(job, worst, what)))
            worst = host;
    }
    if (worst < 0 || bad > (job->hosts + FEW - 1) / FEW)
        return count;
    const int near = find_near(job, usual, worst, -1),
              next = near < 0 ? -1 : find_near(job, usual, worst, near);
    if (next >= 0)
        suspects[count++] = (doctor_suspect){worst, -1, {worst, near, next}};
    return count;
}

/*
 * Adds the worst in WHAT of the bad links between hosts that are not bad. A link that loses packets
 * is faulty by itself. A long or slow link may lead to another place, but then many links are long
 * or slow. In a job of two hosts only losses can be judged: there is nothing to compare with.
 * Returns the new COUNT.
 */
static int suspect_link(const doctor_job *job, const usual_values *usual, quantity what,
                        doctor_suspect suspects[], int count) {
    const doctor_pair *worst = NULL;
    const double expected = job->hosts == 2 ? 0 : usual->of[what];
    int bad = 0;
    for (int p = 0; p < job->pair_count; p++) {
        const doctor_pair *pair = &job->pairs[p];
        if (!is_bad(value_of(pair, what), expected, what) ||
            (job->hosts > 2 && (is_bad(host_value(job, pair->a, what), expected, what) ||
                                is_bad(host_value(job, pair->b, what), expected, what))))
            continue;
        bad++;
        worst = !worst || value_of(pair, what) > value_of(worst, what) ? pair : worst;
    }
    if (!worst || (what != LOSS && (job->hosts == 2 || bad > (job->pair_count + MANY - 1) / MANY)))
        return count;
    const int near = find_near(job, usual, worst->a, worst->b);
    if (near >= 0 || job->hosts == 2)
        suspects[count++] = (doctor_suspect){worst->a, worst->b, {worst->a, worst->b, near}};
    return count;
}

int doctor_find_suspects(const doctor_job *job, doctor_suspect suspects[DOCTOR_SUSPECTS]) {
    usual_values usual;
    int count = 0;
    if (!find_usual_values(job, &usual))
        return 0;
    for (int what = 0; what < QUANTITIES; what++) {
        const int before = count;
        count = suspect_host(job, &usual, (quantity)what, suspects, count);
        if (count == before)
            count = suspect_link(job, &usual, (quantity)what, suspects, count);
    }
    return count;
}

/* --- Findings --- */

static const char *name_of(const doctor_job *job, int host) {
    return doctor_job_facts(job, host)->host;
}

static void write_value(double value, quantity what, char *text, size_t size) {
    if (what == LOSS)
        snprintf(text, size, "%.2g %%", 100 * value);
    else if (what == LATENCY)
        snprintf(text, size, "%.0f us", 1e6 * value);
    else
        snprintf(text, size, "%.3g Mbit/s", 8e-6 / value);
}

/* VALUES of the suspect, and OTHERS to compare them with, are sorted. */
static void add_finding(const doctor_job *job, const doctor_suspect *s, quantity what, bool certain,
                        const double values[], const double others[], doctor_findings *found) {
    static const char *const what_is_bad[] = {[LOSS] = "TCP segments get lost",
                                              [LATENCY] = "messages take long",
                                              [SLOWNESS] = "the link is slow"};
    char least[32], most[32], usual[32], compared[2 * DOCTOR_NAME + 64] = "",
                                                                    to[DOCTOR_NAME + 8] = "";
    if (found->count == DOCTOR_FINDINGS)
        return;
    const int last = DOCTOR_REPEATS - 1;
    write_value(values[what == SLOWNESS ? last : 0], what, least, sizeof least);
    write_value(values[what == SLOWNESS ? 0 : last], what, most, sizeof most);
    write_value(others[DOCTOR_REPEATS / 2], what, usual, sizeof usual);
    if (s->other < 0)
        snprintf(to, sizeof to, " and %s", name_of(job, s->corner[2]));
    if (s->corner[2] >= 0)
        snprintf(compared, sizeof compared, ", and %s between %s and %s", usual,
                 name_of(job, s->corner[1]), name_of(job, s->corner[2]));
    doctor_finding *finding = &found->of[found->count++];
    *finding = (doctor_finding){judged[what].kind,   certain, s->host, s->other, "",
                                judged[what].remedy, NULL};
    snprintf(finding->text, sizeof finding->text,
             "%s %s%s%s: %s: %s to %s in %d tests alone with %s%s%s",
             s->other < 0 ? "host" : "the link between", name_of(job, s->host),
             s->other < 0 ? "" : " and ", s->other < 0 ? "" : name_of(job, s->other),
             what_is_bad[what], least, most, DOCTOR_REPEATS, name_of(job, s->corner[1]), to,
             compared);
}

/*
 * Judges one quantity. A host is bad if its links to both other hosts are bad, compared with the
 * link between these two. A link is bad if it is worse than the links of both its hosts to a third
 * host. The finding is certain if all repeats show it, even without the time of waiting for
 * processors. Returns whether there is a finding.
 */
static bool judge_quantity(const doctor_job *job, const doctor_suspect *s, quantity what,
                           const doctor_pair alone[], int stride, doctor_findings *found) {
    double values[DOCTOR_REPEATS], running[DOCTOR_REPEATS], others[DOCTOR_REPEATS] = {0};
    int bad = 0;
    for (int r = 0; r < DOCTOR_REPEATS; r++, alone += stride) {
        const double first = value_of(&alone[0], what), second = value_of(&alone[1], what),
                     third = value_of(&alone[2], what);
        values[r] = s->other < 0 ? fmin(first, second) : first;
        running[r] = value_if_running(&alone[0], what);
        if (s->other < 0)
            running[r] = fmin(running[r], value_if_running(&alone[1], what));
        if (s->corner[2] >= 0)
            others[r] = s->other < 0 ? third : fmax(second, third);
    }
    app_stats_sort(values, DOCTOR_REPEATS);
    app_stats_sort(others, DOCTOR_REPEATS);
    for (int r = 0; r < DOCTOR_REPEATS; r++)
        bad += is_bad(running[r], others[DOCTOR_REPEATS - 1], what);
    if (!is_bad(values[DOCTOR_REPEATS / 2], others[DOCTOR_REPEATS / 2], what))
        return false;
    add_finding(job, s, what, bad == DOCTOR_REPEATS, values, others, found);
    return true;
}

/* Judges the quantities in turn until one gives a finding, since each may be the cause of the next.
 * Judges none if a certain finding about the host already gives a cause. */
static void judge_suspect(const doctor_job *job, const doctor_suspect *s, const doctor_pair alone[],
                          int stride, doctor_findings *found) {
    for (int i = 0; i < found->count; i++)
        if (found->of[i].certain && doctor_finding_is_about(&found->of[i], s->host) &&
            found->of[i].kind < DOCTOR_LOSS)
            return;
    const int last = job->hosts == 2 ? LOSS : SLOWNESS;
    for (int what = 0; what <= last; what++)
        if (judge_quantity(job, s, (quantity)what, alone, stride, found))
            return;
}

/* Adds the host whose clock differs most from the clocks of the hosts that it measured with, if the
 * difference is at least 1 s. */
static void judge_clocks(const doctor_job *job, doctor_findings *found) {
    int worst = 0;
    for (int host = 1; host < job->hosts; host++)
        if (fabs(doctor_host_ahead(job, host)) > fabs(doctor_host_ahead(job, worst)))
            worst = host;
    const double ahead = doctor_host_ahead(job, worst), most = 1;
    if (fabs(ahead) < most || found->count == DOCTOR_FINDINGS)
        return;
    doctor_finding *finding = &found->of[found->count++];
    *finding = (doctor_finding){
        DOCTOR_CLOCK, job->hosts > 2, worst, -1, "", "let the hosts follow one time server: chrony",
        NULL};
    snprintf(finding->text, sizeof finding->text, "host %s: its clock is %.3g s %s",
             doctor_job_facts(job, worst)->host, fabs(ahead), ahead > 0 ? "ahead" : "behind");
}

void doctor_judge_suspects(const doctor_job *job, const doctor_suspect suspects[], int count,
                           const doctor_pair alone[], doctor_findings *found) {
    for (int s = 0; s < count; s++)
        judge_suspect(job, &suspects[s], &alone[DOCTOR_EDGES * s], DOCTOR_EDGES * count, found);
    judge_clocks(job, found);
}

bool doctor_finding_is_about(const doctor_finding *finding, int host) {
    return finding->host == host || finding->other == host ||
           (finding->of_several && finding->of_several[host]);
}

void doctor_findings_free(doctor_findings *found) {
    for (int i = 0; i < found->count; i++)
        free(found->of[i].of_several);
    found->count = 0;
}

static int by_weight(const void *a, const void *b) {
    const doctor_finding *x = a, *y = b;
    return x->certain != y->certain ? y->certain - x->certain : (int)x->kind - (int)y->kind;
}

void doctor_findings_sort(doctor_findings *found) {
    qsort(found->of, (size_t)found->count, sizeof *found->of, by_weight);
}

const char *doctor_kind_name(doctor_kind kind) {
    static const char *const names[] = {[DOCTOR_SHARED_CORE] = "shared core",
                                        [DOCTOR_FEW_CORES] = "few cores",
                                        [DOCTOR_LIMIT] = "cpu limit",
                                        [DOCTOR_BUSY] = "busy",
                                        [DOCTOR_SLOW] = "slow core",
                                        [DOCTOR_BRIDGE] = "bridge",
                                        [DOCTOR_DOWN] = "no link",
                                        [DOCTOR_MEGABITS] = "link speed",
                                        [DOCTOR_MTU] = "mtu",
                                        [DOCTOR_ERRORS] = "errors",
                                        [DOCTOR_LOSS] = "loss",
                                        [DOCTOR_LATENCY] = "latency",
                                        [DOCTOR_RATE] = "rate",
                                        [DOCTOR_CLOCK] = "clock",
                                        [DOCTOR_NAME_LOOPBACK] = "name",
                                        [DOCTOR_ORDER] = "order"};
    return names[kind];
}
