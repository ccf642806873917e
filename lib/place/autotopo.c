#include "config.h"

#include "lib/place/autotopo.h"

#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/wait.h"
#include "lib/place/roundtrip.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Nodes that wait for their turn look for it so often, at least; seconds. */
static const double LONGEST_SLEEP = 10e-3;

/* No new row of measurements begins after so many seconds. */
static const double LONGEST = 60;

/* Between rounds of checks: whatever disturbed one may be over in the next; seconds. */
static const double ROUND_PAUSE = 50e-3;

/*
 * Up to FEW_NODES all pairs are measured. From more, FULL_ROWS pivots measure all others; in the
 * end so many rounds in a row must have changed nothing.
 */
enum { FEW_NODES = 8, FULL_ROWS = 3, QUIET_ROUNDS = 3 };

/*
 * Messages are integers, the first of them a count: rank 0 sends a pivot the nodes to measure and
 * gets the nanoseconds in their order, or UNREACHED. A count of 0 is the end.
 */
enum { TAG = 1, UNREACHED = -1 };

typedef struct survey {
    MPI_Comm comm;
    coll_wait wait;
    int rank, nodes;
    const int *leaders;
    char *const *hosts;
    int *ports;   /* of each rank; 0 where it measures for no node */
    int *message; /* room for a count and a number for each node */

    /* On rank 0: */
    double start; /* date */
    coll_pair *pairs;
    int count, room;
    int *targets; /* of a row */
    int *racks, *sites;
    uint64_t random;
    coll_clusters found;
    bool complete;

    int unreached[2]; /* a node, and one that it cannot reach; or -1 */
} survey;

/* --- a row --- */

static int send(const survey *s, int to) {
    return PMPI_Send(s->message, 1 + s->message[0], MPI_INT, to, TAG, s->comm);
}

/* Waits with sleeps. */
static int receive(survey *s, int from) {
    MPI_Request request;
    int index;
    int code = PMPI_Irecv(s->message, 1 + s->nodes, MPI_INT, from, TAG, s->comm, &request);
    return code == MPI_SUCCESS ? coll_wait_any(&s->wait, 1, &request, NULL, &index) : code;
}

/* Puts nanoseconds in the place of the nodes in the message. One that is unreached ends the row. */
static void measure_row(survey *s) {
    bool reached = true;
    for (int i = 1; i <= s->message[0]; i++) {
        int node = s->message[i];
        double seconds =
            reached ? coll_roundtrip(s->hosts[node], s->ports[s->leaders[node]]) : UNREACHED;
        reached = seconds >= 0;
        s->message[i] = !reached ? UNREACHED : seconds < 2 ? 1 + (int)(1e9 * seconds) : INT_MAX;
    }
}

/* A pivot's part, until rank 0 ends it. */
static int serve(survey *s) {
    for (;;) {
        int code = receive(s, 0);
        if (code != MPI_SUCCESS || s->message[0] == 0)
            return code;
        measure_row(s);
        code = send(s, 0);
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* --- rank 0's part: whom to measure --- */

/* Adds what was measured, or takes it for the pair's time when it is less than before. */
static void add_pair(survey *s, int a, int b, double seconds) {
    for (int i = 0; i < s->count; i++) {
        coll_pair *pair = &s->pairs[i];
        if ((pair->a == a && pair->b == b) || (pair->a == b && pair->b == a)) {
            pair->seconds = seconds < pair->seconds ? seconds : pair->seconds;
            return;
        }
    }
    s->pairs[s->count++] = (coll_pair){a, b, seconds};
}

/* Makes room for COUNT more pairs. */
static int make_room(survey *s, int count) {
    if (s->count + count <= s->room)
        return MPI_SUCCESS;
    int room = 2 * s->room + count;
    coll_pair *more = realloc(s->pairs, (size_t)room * sizeof *more);
    if (!more)
        return coll_error(MPI_ERR_NO_MEM, "no memory for what was measured of %d nodes", s->nodes);
    s->pairs = more;
    s->room = room;
    return MPI_SUCCESS;
}

/* Has node PIVOT measure the nodes in the message. */
static int delegate(survey *s, int pivot) {
    if (pivot == 0) {
        measure_row(s);
        return MPI_SUCCESS;
    }
    int code = send(s, s->leaders[pivot]);
    return code == MPI_SUCCESS ? receive(s, s->leaders[pivot]) : code;
}

/* Has node PIVOT measure the COUNT nodes that s->targets holds, and adds the pairs. */
static int order_row(survey *s, int pivot, int count) {
    s->complete = s->complete && PMPI_Wtime() - s->start < LONGEST;
    if (count == 0 || !s->complete || s->unreached[0] >= 0)
        return MPI_SUCCESS;
    int code = make_room(s, count);
    if (code != MPI_SUCCESS)
        return code;
    s->message[0] = count;
    memcpy(s->message + 1, s->targets, (size_t)count * sizeof *s->targets);
    code = delegate(s, pivot);
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        int nanoseconds = s->message[1 + i];
        if (nanoseconds == UNREACHED) {
            s->unreached[0] = pivot;
            s->unreached[1] = s->targets[i];
            return MPI_SUCCESS;
        }
        add_pair(s, pivot, s->targets[i], 1e-9 * nanoseconds);
    }
    return code;
}

static int update(survey *s) {
    if (!coll_cluster(s->nodes, s->count, s->pairs, s->racks, s->sites, &s->found))
        return coll_error(MPI_ERR_NO_MEM, "no memory to find the racks of %d nodes", s->nodes);
    return MPI_SUCCESS;
}

/* PIVOT measures all nodes from FIRST on but itself. */
static int order_full_row(survey *s, int pivot, int first) {
    int count = 0;
    for (int node = first; node < s->nodes; node++)
        if (node != pivot)
            s->targets[count++] = node;
    return order_row(s, pivot, count);
}

static int measure_all_pairs(survey *s) {
    int code = MPI_SUCCESS;
    for (int pivot = 0; pivot < s->nodes - 1 && code == MPI_SUCCESS; pivot++)
        code = order_full_row(s, pivot, pivot + 1);
    return code == MPI_SUCCESS ? update(s) : code;
}

/* Measures again all pairs across racks of one site: some may only have been slow just then. */
static int recheck_pairs(survey *s) {
    int code = MPI_SUCCESS;
    for (int pivot = 0; pivot < s->nodes - 1 && code == MPI_SUCCESS; pivot++) {
        int count = 0;
        for (int node = pivot + 1; node < s->nodes; node++)
            if (s->racks[node] != s->racks[pivot] && s->sites[node] == s->sites[pivot])
                s->targets[count++] = node;
        code = order_row(s, pivot, count);
    }
    return code == MPI_SUCCESS ? update(s) : code;
}

static bool is_single(const survey *s, int node) {
    for (int other = 0; other < s->nodes; other++)
        if (other != node && s->racks[other] == s->racks[node])
            return false;
    return true;
}

/* Nodes that have no rack yet measure the others of that kind. */
static int measure_singles(survey *s) {
    for (int pivot = 0; pivot < s->nodes; pivot++) {
        if (!is_single(s, pivot))
            continue;
        int count = 0;
        for (int node = pivot + 1; node < s->nodes; node++)
            if (is_single(s, node))
                s->targets[count++] = node;
        int code = order_row(s, pivot, count);
        if (code == MPI_SUCCESS)
            code = update(s);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

static int random_below(survey *s, int bound) {
    s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((s->random >> 33) % (uint64_t)bound);
}

/* Some node of RACK. */
static int pick_member(survey *s, int rack) {
    int members = 0;
    for (int node = 0; node < s->nodes; node++)
        members += s->racks[node] == rack;
    int which = random_below(s, members), node = -1;
    while (which >= 0)
        which -= s->racks[++node] == rack;
    return node;
}

/*
 * Measures one pair between each rack and others: all others where racks are few, else two for each
 * at random.
 */
static int cross_check(survey *s) {
    int racks = s->found.racks;
    bool few = racks <= FEW_NODES;
    for (int rack = 0; rack < racks; rack++) {
        int count = 0;
        for (int other = rack + 1; few && other < racks; other++)
            s->targets[count++] = pick_member(s, other);
        for (int i = 0; !few && i < 2; i++)
            s->targets[count++] = pick_member(s, (rack + 1 + random_below(s, racks - 1)) % racks);
        int code = order_row(s, pick_member(s, rack), count);
        if (code != MPI_SUCCESS)
            return code;
    }
    return update(s);
}

/* Some pivots measure all nodes, then those without a rack each other. */
static int measure_rows(survey *s) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < FULL_ROWS && code == MPI_SUCCESS; i++)
        code = order_full_row(s, (int)((long)s->nodes * i / FULL_ROWS), 0);
    if (code == MPI_SUCCESS)
        code = update(s);
    return code == MPI_SUCCESS ? measure_singles(s) : code;
}

/* Has rounds of CHECK until some in a row, at different times, change nothing. */
static int check_until_quiet(survey *s, int (*check)(survey *)) {
    int code = MPI_SUCCESS;
    for (int quiet = 0; quiet < QUIET_ROUNDS && code == MPI_SUCCESS; quiet++) {
        int racks = s->found.racks;
        if (racks == s->found.sites || !s->complete || s->unreached[0] >= 0)
            break;
        struct timespec time = {.tv_nsec = (long)(ROUND_PAUSE * 1e9)};
        nanosleep(&time, NULL); /* a signal may cut it short: the next round comes earlier */
        code = check(s);
        if (s->found.racks != racks)
            quiet = -1;
    }
    return code;
}

static int measure(survey *s) {
    bool few = s->nodes <= FEW_NODES;
    int code = few ? measure_all_pairs(s) : measure_rows(s);
    return code == MPI_SUCCESS ? check_until_quiet(s, few ? recheck_pairs : cross_check) : code;
}

/* Rank 0 measures, and ends the others' parts. */
static int conduct(survey *s) {
    s->start = PMPI_Wtime();
    s->complete = true;
    int code = measure(s);
    s->message[0] = 0;
    for (int node = 1; node < s->nodes && code == MPI_SUCCESS; node++)
        code = send(s, s->leaders[node]);
    return code;
}

/* --- all ranks --- */

static bool leads(const survey *s) {
    for (int node = 0; node < s->nodes; node++)
        if (s->leaders[node] == s->rank)
            return true;
    return false;
}

/* Tells all, asleep until then, how rank 0's part went. */
static int conclude(survey *s) {
    MPI_Request request;
    int index, code = PMPI_Ibcast(s->unreached, 2, MPI_INT, 0, s->comm, &request);
    if (code == MPI_SUCCESS)
        code = coll_wait_any(&s->wait, 1, &request, NULL, &index);
    if (code == MPI_SUCCESS && s->unreached[0] >= 0)
        code =
            coll_error(MPI_ERR_OTHER,
                       "cannot measure the topology: %.60s gets no answer from %.60s by TCP; set "
                       "COLL_TOPOLOGY to a file",
                       s->hosts[s->unreached[0]], s->hosts[s->unreached[1]]);
    return code;
}

static int survey_nodes(survey *s) {
    int code = MPI_SUCCESS;
    if (s->rank == 0)
        code = conduct(s);
    else if (leads(s))
        code = serve(s);
    return code == MPI_SUCCESS ? conclude(s) : code;
}

/* Makes what measuring needs; all ranks agree on whether they have it. PORT is 0 for none. */
static int get_ready(survey *s, int port) {
    int ranks;
    bool all;
    int code = PMPI_Comm_size(s->comm, &ranks);
    if (code != MPI_SUCCESS)
        return code;
    s->message = malloc(((size_t)s->nodes + 1) * sizeof *s->message);
    s->targets = malloc((size_t)s->nodes * sizeof *s->targets);
    s->ports = malloc((size_t)ranks * sizeof *s->ports);
    code = coll_agree_good(s->comm, s->message && s->targets && s->ports && port >= 0, &all);
    if (code == MPI_SUCCESS && !all)
        code = coll_error(MPI_ERR_NO_MEM,
                          "no memory or no TCP port to measure the topology of %d nodes", s->nodes);
    return code == MPI_SUCCESS ? PMPI_Allgather(&port, 1, MPI_INT, s->ports, 1, MPI_INT, s->comm)
                               : code;
}

int coll_autotopo(MPI_Comm comm, int nodes, char *const hosts[], const int leaders[], int racks[],
                  int sites[], coll_autotopo_report *report) {
    survey s = {.comm = comm,
                .wait = {.manner = COLL_WAIT_POLITE, .longest_sleep = LONGEST_SLEEP},
                .nodes = nodes,
                .leaders = leaders,
                .hosts = hosts,
                .racks = racks,
                .sites = sites,
                .random = 1,
                .unreached = {-1, -1}};
    int port = -1, code = PMPI_Comm_rank(comm, &s.rank);
    int reserved = coll_roundtrip_reserve(&port);
    if (code == MPI_SUCCESS)
        code = get_ready(&s, port);
    if (code == MPI_SUCCESS)
        code = survey_nodes(&s);
    if (code == MPI_SUCCESS && s.rank == 0)
        *report = (coll_autotopo_report){s.found, PMPI_Wtime() - s.start, s.count, s.complete};
    if (reserved >= 0)
        close(reserved);
    free(s.message);
    free(s.targets);
    free(s.ports);
    free(s.pairs);
    return code;
}
