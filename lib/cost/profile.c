/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/profile.h"

#include "lib/cost/profilefile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char builtin_name[] = "built-in";

const coll_profile *coll_profile_builtin(void) {
    static const coll_profile builtin = {
        .source = "built-in",
        .level =
            {
                [COLL_LEVEL_NUMA] = {.latency = 0.5e-6, .overhead = 0.2e-6, .per_byte = 0.12e-9},
                [COLL_LEVEL_NODE] = {.latency = 0.8e-6, .overhead = 0.3e-6, .per_byte = 0.2e-9},
                [COLL_LEVEL_RACK] = {.latency = 40e-6, .overhead = 5e-6, .per_byte = 8.5e-9},
                [COLL_LEVEL_SITE] = {.latency = 60e-6, .overhead = 5e-6, .per_byte = 8.5e-9},
                [COLL_LEVEL_WIDE] = {.latency = 10e-3, .overhead = 5e-6, .per_byte = 8.5e-9},
            },
        .copy =
            {
                [COLL_COPY_CACHE_TO_CACHE] = {2, 0, {0, 1 << 20}, {0, 0.05e-3}},
                [COLL_COPY_CACHE_TO_MEMORY] = {2, 0, {0, 1 << 20}, {0, 0.1e-3}},
                [COLL_COPY_MEMORY_TO_MEMORY] = {2, 0, {0, 1 << 20}, {0, 0.2e-3}},
            },
    };
    return &builtin;
}

const coll_cost *coll_profile_outermost(const coll_profile *profile, const coll_topo *topo) {
    return &profile->level[topo->sites > 1   ? COLL_LEVEL_WIDE
                           : topo->racks > 1 ? COLL_LEVEL_SITE
                           : topo->nodes > 1 ? COLL_LEVEL_RACK
                                             : COLL_LEVEL_NODE];
}

static bool is_of_these_hosts(const coll_profilefile *file, const coll_topo *topo) {
    for (int node = 0; node < topo->nodes; node++)
        if (coll_profilefile_has_host(file, topo->hosts[node]))
            return true;
    return false;
}

/*
 * If only one of the two levels between the hosts of a site was measured, copies its figures to the
 * other level: they are closer to the truth than the built-in figures. Racks then count as having
 * an uplink with the rate of one link, as on an unmeasured network (lib/cost/networks.h).
 */
static void fill_unmeasured(coll_profile *profile, const coll_topo *topo) {
    const coll_level levels[] = {COLL_LEVEL_RACK, COLL_LEVEL_SITE};
    for (int i = 0; i < 2; i++) {
        const coll_level level = levels[i], other = levels[1 - i];
        coll_cost *cost = &profile->level[level];
        if (profile->measured[level] || !profile->measured[other])
            continue;
        *cost = profile->level[other];
        cost->together = level == COLL_LEVEL_SITE ? topo->racks / cost->per_byte : 0;
    }
}

/* Copies the measured values of FILE to PROFILE. */
static void copy_measured(const coll_profilefile *file, const char *path, const coll_topo *topo,
                          coll_profile *profile) {
    const COLL_Profile *values = &file->values;
    snprintf(profile->source, sizeof profile->source, "%s", path);
    for (int level = 0; level < COLL_LEVELS; level++) {
        profile->measured[level] = values->measured[level];
        if (values->measured[level])
            profile->level[level] = values->cost[level];
    }
    for (int copy = 0; copy < COLL_COPIES; copy++)
        if (values->copy[copy].knots)
            profile->copy[copy] = values->copy[copy];
    fill_unmeasured(profile, topo);
}

/*
 * Loads the file at PATH if it exists and is of these hosts; if not, and the user NAMED it, that is
 * an error. Returns whether a search ends here: the file was loaded, or there is an error.
 */
static bool load_file(const char *path, bool named, const coll_topo *topo, coll_profile *profile,
                      char *problem) {
    coll_profilefile file;
    const bool good = coll_profilefile_read(path, &file, problem);
    if (!good && !*problem && named)
        snprintf(problem, COLL_TEXTFILE_PROBLEM,
                 "profile %.120s: no such file; measure one by coll-profile, or unset COLL_PROFILE",
                 path);
    if (!good)
        return *problem;
    const bool ours = is_of_these_hosts(&file, topo);
    if (ours)
        copy_measured(&file, path, topo, profile);
    else if (named)
        snprintf(problem, COLL_TEXTFILE_PROBLEM,
                 "profile %.80s, line %d: measured on other hosts (%.30s), not on %.30s; measure "
                 "one here by coll-profile, or unset COLL_PROFILE",
                 path, file.hosts_line, file.hosts, topo->hosts[0]);
    coll_profilefile_free(&file);
    return ours;
}

static void search_profile(const coll_topo *topo, coll_profile *profile, char *problem) {
    const char *folder = getenv("XDG_CONFIG_HOME"), *below = "";
    char path[COLL_PROFILE_SOURCE];
    if (!folder || !*folder) {
        folder = getenv("HOME");
        below = "/.config";
    }
    /* If the path is too long, no such file can be named. */
    if (folder && *folder &&
        snprintf(path, sizeof path, "%s%s/libcoll/profile", folder, below) < (int)sizeof path &&
        load_file(path, false, topo, profile, problem))
        return;
    (void)load_file("/etc/libcoll/profile", false, topo, profile, problem);
}

void coll_profile_load(const char *path, const coll_topo *topo, coll_profile *profile,
                       char *problem) {
    *problem = '\0';
    *profile = *coll_profile_builtin();
    if (!*path)
        search_profile(topo, profile, problem);
    else if (strcmp(path, builtin_name) != 0)
        (void)load_file(path, true, topo, profile, problem);
}

bool coll_profile_is_builtin(const coll_profile *profile) {
    return strcmp(profile->source, builtin_name) == 0;
}

/* Sets the latencies between hosts of a site to TIMES times the built-in latencies. */
static void scale_latencies(coll_profile *profile, double times) {
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVEL_WIDE; level++)
        profile->level[level].latency = times * coll_profile_builtin()->level[level].latency;
}

void coll_profile_set_round_trip(coll_profile *profile, double round_trip) {
    const double most = 1 << 10, near = coll_profile_builtin()->level[COLL_LEVEL_RACK].latency;
    double times = 1;
    while (times < most && round_trip / 2 > M_SQRT2 * times * near)
        times *= 2;
    scale_latencies(profile, times);
}

void coll_profile_set_latencies(coll_profile *profile, double rack, double site) {
    coll_cost *in_rack = &profile->level[COLL_LEVEL_RACK],
              *in_site = &profile->level[COLL_LEVEL_SITE];
    const double ratio = in_site->latency / in_rack->latency;
    if ((!profile->only_rates && !coll_profile_is_builtin(profile)) || (rack == 0 && site == 0))
        return;
    in_rack->latency = rack > 0 ? rack : site / ratio;
    in_site->latency = site > 0 ? site : rack * ratio;
}

void coll_profile_set_rates(coll_profile *profile, const coll_topo *topo,
                            const coll_network_rates *rates) {
    coll_cost *rack = &profile->level[COLL_LEVEL_RACK], *site = &profile->level[COLL_LEVEL_SITE];
    strcpy(profile->source, "measured when the job began");
    rack->per_byte = site->per_byte = 1 / rates->link;
    rack->per_rank = site->per_rank = rates->per_rank;
    profile->measured[COLL_LEVEL_RACK] = profile->only_rates = true;
    if (topo->racks == 1)
        return;
    site->per_byte = fmax(site->per_byte, topo->racks / rates->together);
    site->together = rates->together;
    profile->measured[COLL_LEVEL_SITE] = true;
}

/* Of a built-in profile, only the name and the factor of its latencies are packed. */
void coll_profile_carry(coll_pack_buffer *pack, coll_profile *profile) {
    const double near = coll_profile_builtin()->level[COLL_LEVEL_RACK].latency;
    double times = profile->level[COLL_LEVEL_RACK].latency / near;
    coll_pack_buffer_move_text(pack, profile->source, sizeof profile->source);
    profile->shared_work = 0;
    if (!coll_profile_is_builtin(profile)) {
        coll_pack_buffer_move(pack, profile->level,
                              sizeof *profile - offsetof(coll_profile, level));
        return;
    }
    coll_pack_buffer_move(pack, &times, sizeof times);
    *profile = *coll_profile_builtin();
    scale_latencies(profile, times);
}

size_t coll_profile_segment_or(uint64_t wanted, const coll_cost *link, size_t bytes, double fill) {
    if (wanted > 0)
        return wanted < bytes ? (size_t)wanted : bytes;
    const double least = 4 << 10, most = 32 << 10, smallest = 1 << 10;
    double segment = sqrt((double)bytes * link->overhead / (fmax(fill, 1) * link->per_byte));
    segment = fmin(fmax(segment, least), most);
    const double count = fmax(round((double)bytes / segment), ceil((double)bytes / most));
    segment = fmax(ceil((double)bytes / fmax(count, 2)), smallest);
    return (size_t)fmin(segment, (double)bytes);
}

/* Returns the time of all rounds: in each round the first message costs the time of a whole
 * message, each further message the overhead of both processors. */
static double seconds_by_radix(const coll_cost *link, int ranks, int radix) {
    double first = coll_cost_relay(link, 0), other = 2 * link->overhead, seconds = 0;
    for (int left = ranks; left > 1; left = (left - 1) / radix + 1)
        seconds += first + ((left < radix ? left : radix) - 2) * other;
    return seconds;
}

int coll_profile_radix_or(uint64_t wanted, const coll_cost *link, int ranks) {
    int best = wanted < 2 ? 2 : (int)wanted;
    for (int radix = 3; wanted < 2 && radix <= 8; radix++)
        if (seconds_by_radix(link, ranks, radix) < seconds_by_radix(link, ranks, best))
            best = radix;
    return best;
}
