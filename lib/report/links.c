/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/links.h"

#include <math.h>
#include <stdlib.h>

/* The rate of a flow counts only if the flow has at least this many bytes, busy seconds, and bytes
 * in a segment on average: short messages wait for answers instead of the link. The kernel counts
 * time in steps of some ms. */
static const double BYTES = 262144, BUSY = 0.05, SEGMENT = 1000;

/* A link is slow only if its fastest flow has less than this fraction of the usual rate. */
static const double SLOW = 0.6;

/*
 * A link loses packets if the share of segments that TCP sends again is above LOSSES plus MORE
 * times the usual share.
 */
static const double LOSSES = 0.005, MORE = 3;

/* The share of lost segments is known only if at the limit at least this many would be lost. */
static const double KNOWN = 10;

/* With fewer links of a kind there is nothing to compare with. */
enum { FEWEST = 3 };

/* A link in one or both directions. */
typedef struct element {
    bool uplink, out, in;
    int who; /* host or rack */
} element;

typedef struct network {
    int count, hosts;
    const coll_flow *flows;
    const int *rack_of;
    double *left, *entered; /* bytes that each host has sent and received */
    double rate[2];         /* usual bytes/s of hosts' links and of uplinks; 0: unknown */
    double loss;            /* limit of the share of segments that TCP sends again */
} network;

static bool passes(const network *of, const coll_flow *flow, const element *link) {
    int from = flow->from, to = flow->to;
    if (link->uplink) {
        from = of->rack_of[from];
        to = of->rack_of[to];
        if (from == to)
            return false;
    }
    return (link->out && from == link->who) || (link->in && to == link->who);
}

static bool has_rate(const coll_flow *flow) {
    return flow->bytes >= BYTES && flow->busy >= BUSY && flow->bytes >= SEGMENT * flow->sent;
}

/* Returns the rate of the fastest flow that passes LINK but not WITHOUT, which may be NULL; 0:
 * unknown. */
static double fastest(const network *of, const element *link, const element *without) {
    double most = 0;
    for (int i = 0; i < of->count; i++) {
        const coll_flow *flow = &of->flows[i];
        if (has_rate(flow) && passes(of, flow, link) && !(without && passes(of, flow, without)))
            most = fmax(most, flow->bytes / flow->busy);
    }
    return most;
}

/* Returns whether all flows on LINK that do not pass WITHOUT are slow, and one of them certainly
 * is: even if it had moved all that its sender sent or all that its receiver received, whichever is
 * more, its rate would be below the limit. */
static bool is_slow(const network *of, const element *link, const element *without) {
    const double limit = SLOW * of->rate[link->uplink];
    bool is_certain = false;
    if (fastest(of, link, without) >= limit)
        return false;
    for (int i = 0; i < of->count && !is_certain; i++) {
        const coll_flow *flow = &of->flows[i];
        const double most = fmax(of->left[flow->from], of->entered[flow->to]);
        is_certain = has_rate(flow) && passes(of, flow, link) &&
                     !(without && passes(of, flow, without)) && most < limit * flow->busy;
    }
    return is_certain;
}

/* Returns whether the flows on LINK that do not pass WITHOUT together lose more than the limit, and
 * no such flow with enough segments loses less than half of the limit. */
static bool loses(const network *of, const element *link, const element *without) {
    double sent = 0, resent = 0;
    for (int i = 0; i < of->count; i++) {
        const coll_flow *flow = &of->flows[i];
        if (!passes(of, flow, link) || (without && passes(of, flow, without)))
            continue;
        if (of->loss * flow->sent >= KNOWN && flow->resent < of->loss * flow->sent / 2)
            return false;
        sent += flow->sent;
        resent += flow->resent;
    }
    return of->loss * sent >= KNOWN && resent > of->loss * sent;
}

/* Returns the share of the segments on LINK that TCP sent again; negative if there were none. */
static double lost_share(const network *of, const element *link) {
    double sent = 0, resent = 0;
    for (int i = 0; i < of->count; i++)
        if (passes(of, &of->flows[i], link)) {
            sent += of->flows[i].sent;
            resent += of->flows[i].resent;
        }
    return sent > 0 ? resent / sent : -1;
}

static int by_number(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Returns the median of the values above 0; 0 if they are too few. */
static double usual(int count, double values[]) {
    qsort(values, (size_t)count, sizeof *values, by_number);
    int unknown = 0;
    while (unknown < count && values[unknown] <= 0)
        unknown++;
    return count - unknown < FEWEST ? 0 : values[unknown + (count - unknown) / 2];
}

typedef bool stands_out(const network *of, const element *link, const element *without);

/* Returns the link among the COUNT LINKS that alone explains all links that stand out by TEST: no
 * other one stands out if its flows are left out. Returns NULL if no link, or more than one,
 * explains them all. Overwrites LINKS. */
static const element *find_cause(const network *of, stands_out *test, int count, element links[]) {
    int bad = 0;
    const element *cause = NULL;
    for (int i = 0; i < count; i++)
        if (test(of, &links[i], NULL))
            links[bad++] = links[i];
    for (int i = 0; i < bad; i++) {
        bool all = true;
        for (int k = 0; k < bad && all; k++)
            all = i == k || !test(of, &links[k], &links[i]);
        if (all && cause)
            return NULL;
        if (all)
            cause = &links[i];
    }
    return cause;
}

/* Lists the links of all hosts, and the uplinks of racks of several hosts, as the link of a rack's
 * only host can't be told from the rack's uplink. Returns the number of elements. If TWICE, each
 * direction is an element. */
static int list_links(const network *of, int racks, bool twice, element links[]) {
    int count = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int who = 0; who < (kind ? racks : of->hosts); who++) {
            int hosts = 0;
            for (int i = 0; i < of->hosts && kind; i++)
                hosts += of->rack_of[i] == who;
            if (kind && hosts < 2)
                continue;
            links[count++] = (element){kind, true, !twice, who};
            if (twice)
                links[count++] = (element){kind, false, true, who};
        }
    return count;
}

/* Describes the cause LINK for the report. */
static coll_link describe(const network *of, coll_link_problem problem, const element *link,
                          double usual_loss) {
    coll_link found = {
        .problem = problem, .uplink = link->uplink, .host = link->uplink ? 0 : link->who};
    const double rate = of->rate[problem == COLL_LINK_SLOW && link->uplink];
    while (link->uplink && of->rack_of[found.host] != link->who)
        found.host++;
    for (int i = 0; i < of->count; i++) {
        const coll_flow *flow = &of->flows[i];
        if (passes(of, flow, link))
            found.seconds = fmax(found.seconds, flow->busy - flow->bytes / rate);
    }
    found.value = problem == COLL_LINK_SLOW ? fastest(of, link, NULL) : lost_share(of, link);
    found.usual = problem == COLL_LINK_SLOW ? rate : usual_loss;
    return found;
}

static coll_link find(network *of, int racks, double values[], element links[]) {
    for (int i = 0; i < of->count; i++) {
        of->left[of->flows[i].from] += of->flows[i].bytes;
        of->entered[of->flows[i].to] += of->flows[i].bytes;
    }
    for (int kind = 0; kind < 2; kind++) {
        const int most = kind ? racks : of->hosts;
        for (int i = 0; i < most; i++)
            values[i] = fastest(of, &(element){kind, true, true, i}, NULL);
        of->rate[kind] = usual(most, values);
    }
    for (int i = 0; i < of->hosts; i++) {
        const double share = lost_share(of, &(element){false, true, false, i});
        /*
         * usual() leaves out values of 0: hosts that sent nothing, whose share is unknown. A host
         * that lost nothing counts, so its share is a little more.
         */
        values[i] = share < 0 ? 0 : fmax(share, 1e-9);
    }
    const double usual_loss = usual(of->hosts, values);
    of->loss = LOSSES + MORE * usual_loss;
    const element *cause = NULL;
    if (usual_loss > 0)
        cause = find_cause(of, loses, list_links(of, racks, true, links), links);
    if (cause)
        return describe(of, COLL_LINK_LOSES, cause, usual_loss);
    cause = find_cause(of, is_slow, list_links(of, racks, false, links), links);
    return cause ? describe(of, COLL_LINK_SLOW, cause, 0) : (coll_link){.problem = COLL_LINK_GOOD};
}

coll_link coll_links_find(int count, const coll_flow flows[], int hosts, const int rack_of[]) {
    int racks = 0;
    for (int i = 0; i < hosts && rack_of; i++)
        racks = rack_of[i] >= racks ? rack_of[i] + 1 : racks;
    const size_t room = (size_t)(hosts > racks ? hosts : racks);
    double *memory = calloc(3 * room + 1, sizeof *memory);
    element *links = calloc(4 * room + 1, sizeof *links);
    network of = {.count = count, .hosts = hosts, .flows = flows, .rack_of = rack_of};
    coll_link found = {.problem = COLL_LINK_GOOD};
    if (memory && links) {
        of.left = memory;
        of.entered = memory + room;
        found = find(&of, racks, memory + 2 * room, links);
    }
    free(memory);
    free(links);
    return found;
}
