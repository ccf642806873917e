/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/gather.h"

#include "lib/algorithm/operations.h"
#include "lib/base/tcp_connections.h"
#include "lib/base/ticks.h"
#include "lib/report/job_calls.h"
#include "lib/topology/rank_info.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Without COLL_TIMEOUT, rank 0 waits FOR_RANKS seconds for a message. Other ranks always wait
 * TIMES_FOR_ROOT times as long as rank 0, which may be waiting for another rank or still be writing
 * results. */
static const double FOR_RANKS = 60, TIMES_FOR_ROOT = 10;

/* After this many seconds no further call is replayed. */
static const double REPLAY = 5;

/* Rank 0 asks each host for its time this many times; the shortest round trip counts. */
enum { ROUND_TRIPS = 12 };

/* All ranks together send at most ALL_EVENTS, but each rank may send LEAST_EVENTS. */
enum { ALL_EVENTS = 1 << 22, LEAST_EVENTS = 256 };

/* Links are compared only if there are at most LINK_HOSTS hosts and CONNECTIONS TCP connections. */
enum { LINK_HOSTS = 256, CONNECTIONS = 1 << 20 };

/* Differences of clocks are fitted to at most this many events of a rank on a communicator. */
enum { FITTED = 4096 };

/* The first message of each rank. */
typedef struct hello {
    coll_rank_info info;
    int64_t rows, comms, events, connections; /* numbers of elements that will follow */
    double lost;
} hello;

/* Rank 0's requests. */
enum { TELL_TIME, SEND_ALL, LEAVE_OUT };

/* The second message of a rank has the rows, then the series of each communicator, followed by its
 * events, and then the TCP connections. The sizes of all these elements are multiples of 8, so that
 * they are aligned. Until translate_events converts them, events have times on the sender's clock
 * and indices of the sender's rows. */
static coll_recorded_call *events_on(coll_job_series *comm) {
    return (void *)(comm + 1);
}

static coll_job_series *next_comm(coll_job_series *comm) {
    return (void *)(events_on(comm) + comm->count);
}

static size_t data_bytes(const hello *of) {
    return (size_t)of->rows * sizeof(coll_report_row) +
           (size_t)of->comms * sizeof(coll_job_series) +
           (size_t)of->events * sizeof(coll_recorded_call) +
           (size_t)of->connections * sizeof(coll_tcp_connection);
}

/* --- Waiting --- */

/*
 * Waits for *REQUEST until DEADLINE. Returns whether the request completed in time; if not, cancels
 * it. STATUS may be MPI_STATUS_IGNORE.
 */
static bool wait_until(MPI_Request *request, MPI_Status *status, double deadline) {
    enum { AWAKE = 1000 };
    for (int tries = 0, done = 0;; tries++) {
        if (PMPI_Test(request, &done, status) != MPI_SUCCESS)
            return false;
        if (done)
            return true;
        if (coll_monotonic() > deadline)
            break;
        if (tries < AWAKE)
            sched_yield();
        else
            coll_sleep(200e-6);
    }
    (void)PMPI_Cancel(request);
    (void)PMPI_Request_free(request);
    return false;
}

/* Fails also if the message has another length: a rank that gives up sends an empty one. */
static bool receive(void *data, size_t bytes, int from, int tag, MPI_Comm world, double deadline) {
    MPI_Request request;
    MPI_Status status;
    int got;
    return PMPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, world, &request) == MPI_SUCCESS &&
           wait_until(&request, &status, deadline) &&
           PMPI_Get_count(&status, MPI_BYTE, &got) == MPI_SUCCESS && got == (int)bytes;
}

static bool send(const void *data, size_t bytes, int to, int tag, MPI_Comm world, double deadline) {
    MPI_Request request;
    return PMPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, world, &request) == MPI_SUCCESS &&
           wait_until(&request, MPI_STATUS_IGNORE, deadline);
}

/* --- What a rank sends --- */

/* Returns how many of ONE's latest events are sent if at most MOST may be sent. */
static int64_t events_of(const coll_report_comm *one, int64_t most) {
    int64_t count = (int64_t)(one->calls < one->room ? one->calls : one->room);
    return count < most ? count : most;
}

/* Returns the place of RANK in GROUP. */
static int place_in(const coll_report_group *group, int rank) {
    int place = 0;
    while (place < group->ranks - 1 && group->members[place] != rank)
        place++;
    return place;
}

/*
 * Packs the communicators that have events into the memory at TO, with their latest events: at most
 * MOST in all, which the communicators share. Sets the numbers of communicators and events in OWN,
 * which were upper limits, to those that were packed. Returns the end of the packed data.
 */
static void *pack_events(int rank, const int16_t row_of[], int64_t most, void *to, hello *own) {
    const double tick = coll_report_tick();
    int64_t left = own->comms;
    own->comms = own->events = 0;
    for (const coll_report_comm *one = coll_report_comms(); one; one = one->next) {
        if (events_of(one, 1) == 0)
            continue;
        const int64_t count = events_of(one, most / left--);
        most -= count;
        if (count == 0)
            continue;
        own->comms++;
        own->events += count;
        coll_job_series *header = to;
        coll_recorded_call *next = events_on(header);
        *header = (coll_job_series){.comm = one->id,
                                    .group = one->group->hash,
                                    .first = one->calls - (uint64_t)count,
                                    .count = count,
                                    .ranks = one->group->ranks,
                                    .place = place_in(one->group, rank)};
        for (uint64_t n = header->first; n < one->calls; n++) {
            *next = one->events[n & (one->room - 1)];
            next->entered = coll_report_date(tick, next->entered);
            next->left = coll_report_date(tick, next->left);
            next->row = next->row < 0 ? -1 : row_of[next->row];
            next++;
        }
        to = next;
    }
    return to;
}

/* Makes the data that this rank sends: sets OWN, which is sent first, and returns the data that
 * follows, which the caller frees. Returns NULL after an error. */
static char *make_data(MPI_Comm world, hello *own) {
    static coll_tcp_connection connections[COLL_TCP_CONNECTIONS];
    coll_report_row *rows = malloc(COLL_REPORT_ROWS * sizeof *rows);
    int rank, ranks;
    int16_t row_of[COLL_REPORT_ROWS];
    memset(own, 0, sizeof *own);
    if (!rows || PMPI_Comm_rank(world, &rank) != MPI_SUCCESS ||
        PMPI_Comm_size(world, &ranks) != MPI_SUCCESS ||
        coll_rank_info_make(&own->info) != MPI_SUCCESS) {
        free(rows);
        return NULL;
    }
    const int64_t share = ALL_EVENTS / ranks, most = share > LEAST_EVENTS ? share : LEAST_EVENTS;
    own->lost = (double)coll_report_lost();
    own->rows = coll_report_make_rows(rank, ranks, rows, row_of);
    own->connections = coll_tcp_connections_read(connections);
    for (const coll_report_comm *one = coll_report_comms(); one; one = one->next) {
        own->comms += events_of(one, 1);
        own->events += events_of(one, most);
    }
    char *data = malloc(data_bytes(own) + 1);
    if (data) {
        memcpy(data, rows, (size_t)own->rows * sizeof *rows);
        void *end = pack_events(rank, row_of, most, data + (size_t)own->rows * sizeof *rows, own);
        memcpy(end, connections, (size_t)own->connections * sizeof *connections);
    }
    free(rows);
    return data;
}

void coll_gather_send(MPI_Comm world, int tag, double timeout) {
    static hello own; /* static: if rank 0 never receives it, MPI may read it until the end */
    char *data = make_data(world, &own);
    const double limit = TIMES_FOR_ROOT * (timeout > 0 ? timeout : FOR_RANKS);
    MPI_Request sent, given_up;
    int question = TELL_TIME;
    if (!data || PMPI_Isend(&own, sizeof own, MPI_BYTE, 0, tag, world, &sent) != MPI_SUCCESS) {
        free(data);
        return;
    }
    bool good = true, over = false;
    while (good && !over) {
        good = receive(&question, sizeof question, 0, tag, world, coll_monotonic() + limit) &&
               question != LEAVE_OUT;
        over = good && question == SEND_ALL;
        const int64_t now = (int64_t)coll_nanoseconds();
        if (good && !over)
            good = send(&now, sizeof now, 0, tag, world, coll_monotonic() + limit);
    }
    good = good && send(data, data_bytes(&own), 0, tag, world, coll_monotonic() + limit);
    if (!good && question != LEAVE_OUT &&
        PMPI_Isend(NULL, 0, MPI_BYTE, 0, tag, world, &given_up) == MPI_SUCCESS)
        (void)PMPI_Request_free(&given_up); /* rank 0 needn't wait for this rank when it comes */
    (void)wait_until(&sent, MPI_STATUS_IGNORE, good ? coll_monotonic() + limit : coll_monotonic());
    if (good)
        free(data);
    else
        (void)coll_wait_leave(data);
}

/* --- What rank 0 does with the data --- */

/* A host, as rank 0 sees it. */
typedef struct host {
    uint64_t node;
    bool known;
    int64_t offset; /* ns to add to its clock to get rank 0's, at the time of measuring */
    double error;   /* s */
    double trip;    /* s: of a short message, one way */
} host;

/* A TCP connection, and the host that sends on it. */
typedef struct sender {
    int host;
    coll_tcp_connection to;
} sender;

typedef struct gathering {
    MPI_Comm world;
    int tag, ranks;
    double limit; /* s */
    hello *hellos;
    bool *here;
    host *host;
    coll_arrivals *arrivals;
    coll_job_calls *calls;
    sender *senders;
    int64_t sender_count;  /* negative: some are missing */
    char *own;             /* rank 0's data */
    coll_summary *summary; /* the result */
} gathering;

/* Receives the hellos of the ranks that are EXPECTED, within the time limit. */
static bool receive_hellos(gathering *all, const bool expected[]) {
    MPI_Request *requests = malloc((size_t)all->ranks * sizeof *requests);
    const double deadline = coll_monotonic() + all->limit;
    if (!requests)
        return false;
    for (int rank = 0; rank < all->ranks; rank++) {
        requests[rank] = MPI_REQUEST_NULL;
        if (rank > 0 && expected[rank] &&
            PMPI_Irecv(&all->hellos[rank], sizeof *all->hellos, MPI_BYTE, rank, all->tag,
                       all->world, &requests[rank]) != MPI_SUCCESS)
            requests[rank] = MPI_REQUEST_NULL;
    }
    for (int rank = 1; rank < all->ranks; rank++)
        all->here[rank] = requests[rank] != MPI_REQUEST_NULL &&
                          wait_until(&requests[rank], MPI_STATUS_IGNORE, deadline);
    free(requests);
    return true;
}

static void number_host(gathering *all, int rank) {
    coll_summary *into = all->summary;
    const uint64_t node = all->hellos[rank].info.node;
    int i = 0;
    while (i < into->hosts && all->host[i].node != node)
        i++;
    if (i == into->hosts) {
        all->host[i] = (host){.node = node, .known = rank == 0};
        snprintf(into->host_names[i], sizeof *into->host_names, "%.*s", COLL_SUMMARY_HOST - 1,
                 all->hellos[rank].info.text);
        into->hosts++;
    }
    into->host_of[rank] = i;
}

/* Measures the clock of RANK's host. Returns false if the rank is silent. */
static bool measure_clock(gathering *all, int rank) {
    host *of = &all->host[all->summary->host_of[rank]];
    const int question = TELL_TIME;
    of->error = INFINITY;
    for (int i = 0; i < ROUND_TRIPS; i++) {
        int64_t theirs;
        const double deadline = coll_monotonic() + all->limit;
        const uint64_t start = coll_nanoseconds();
        if (!send(&question, sizeof question, rank, all->tag, all->world, deadline) ||
            !receive(&theirs, sizeof theirs, rank, all->tag, all->world, deadline))
            return false;
        const uint64_t end = coll_nanoseconds();
        const double error = 0.5e-9 * (double)(end - start);
        if (error >= of->error)
            continue;
        of->error = of->trip = error;
        of->offset = (int64_t)(start + (end - start) / 2) - theirs;
    }
    /*
     * The clocks count from the boot of each host. If they differ by less than the error, the hosts
     * share a clock, as emulated hosts do, and there is no error.
     */
    if (fabs(1e-9 * (double)of->offset) <= of->error) {
        of->offset = 0;
        of->error = 0;
    }
    return of->known = true;
}

/* Returns rank 0's series of the communicator ID, or NULL if rank 0 has none. */
static coll_job_series *find_own_comm(const gathering *all, uint64_t id) {
    const hello *own = &all->hellos[0];
    coll_report_row *rows = (void *)all->own;
    coll_job_series *comm = (void *)(rows + own->rows);
    for (int64_t i = 0; i < own->comms; i++, comm = next_comm(comm))
        if (comm->comm == id)
            return comm;
    return NULL;
}

/*
 * Returns the rate by which the clock of the rank that sent COMM gains on rank 0's. The rate
 * follows from the times at which both ranks left the same synchronizing calls, because all ranks
 * leave such a call at about the same time. OFFSET, in ns, is added to the sender's times.
 */
static double find_drift(const gathering *all, int64_t offset, coll_job_series *comm) {
    static int64_t time[FITTED];
    static double apart[FITTED];
    coll_job_series *own = find_own_comm(all, comm->comm);
    int count = 0;
    if (!own)
        return 0;
    for (int64_t i = 0; i < comm->count && count < FITTED; i++) {
        const int64_t same = (int64_t)(comm->first + (uint64_t)i - own->first);
        const coll_recorded_call *one = events_on(comm) + i;
        if (same < 0 || same >= own->count || one->operation == COLL_RECORDED_FAILURE ||
            one->operation != events_on(own)[same].operation ||
            !coll_operation_synchronizes(one->operation))
            continue;
        time[count] = events_on(own)[same].left;
        apart[count] = (double)(one->left + offset - time[count]);
        count++;
    }
    return coll_arrivals_drift(count, time, apart);
}

/*
 * Converts the times of RANK's events on COMM to rank 0's clock, and replaces their rows by
 * ROW_OF[row].
 */
static void translate_events(const gathering *all, int rank, const int16_t row_of[],
                             coll_job_series *comm) {
    const host *of = &all->host[all->summary->host_of[rank]];
    const int64_t offset = of->offset, now = (int64_t)coll_nanoseconds();
    const double drift = of->error > 0 ? find_drift(all, offset, comm) : 0;
    coll_recorded_call *next = events_on(comm);
    for (int64_t i = 0; i < comm->count; i++, next++) {
        const int64_t moved = offset + (int64_t)(drift * (double)(now - next->entered - offset));
        next->entered += moved;
        next->left += moved;
        next->row = next->row < 0 ? -1 : row_of[next->row];
    }
}

/* Adds the connections of RANK. */
static void add_connections(gathering *all, int rank, const coll_tcp_connection list[]) {
    const int64_t count = all->hellos[rank].connections, sum = all->sender_count + count;
    if (all->sender_count < 0)
        return;
    sender *more =
        sum > CONNECTIONS ? NULL : realloc(all->senders, (size_t)(sum + 1) * sizeof *more);
    if (!more) {
        all->sender_count = -1;
        return;
    }
    all->senders = more;
    for (int64_t i = 0; i < count; i++)
        more[all->sender_count++] = (sender){all->summary->host_of[rank], list[i]};
}

/* Adds the data that RANK has sent. */
static void add_data(gathering *all, int rank, char *data) {
    const hello *of = &all->hellos[rank];
    coll_summary *into = all->summary;
    coll_report_row *rows = (void *)data;
    coll_job_series *comm = (void *)(rows + of->rows);
    int16_t row_of[COLL_REPORT_ROWS];
    for (int64_t i = 0; i < of->rows; i++)
        row_of[i] =
            (int16_t)coll_report_add_row(into->rows, &into->count, COLL_REPORT_ROWS, &rows[i]);
    for (int64_t i = 0; i < of->comms; i++, comm = next_comm(comm)) {
        translate_events(all, rank, row_of, comm);
        (void)coll_arrivals_add(all->arrivals, rank, comm, events_on(comm));
        (void)coll_job_calls_add(all->calls, rank, (size_t)(of->comms - i), comm, events_on(comm));
    }
    add_connections(all, rank, (void *)comm);
    into->lost += of->lost;
}

static bool receive_data(gathering *all, int rank) {
    const size_t bytes = data_bytes(&all->hellos[rank]);
    const int question = SEND_ALL;
    const double deadline = coll_monotonic() + all->limit;
    char *data = malloc(bytes + 1);
    const bool asked = data && bytes <= INT32_MAX &&
                       send(&question, sizeof question, rank, all->tag, all->world, deadline),
               good = asked && receive(data, bytes, rank, all->tag, all->world, deadline);
    if (good)
        add_data(all, rank, data);
    if (asked && !good)
        (void)coll_wait_leave(data); /* MPI may still write to it */
    else
        free(data);
    return good;
}

/* Gathers from all ranks that are here, one after the other, so that memory for the data of one
 * rank is enough. */
static void receive_all(gathering *all, const bool expected[]) {
    static const int question = LEAVE_OUT; /* static: it may be sent after the return */
    MPI_Request request;
    number_host(all, 0);
    add_data(all, 0, all->own);
    for (int rank = 1; rank < all->ranks; rank++) {
        if (!all->here[rank] && expected[rank] &&
            PMPI_Isend(&question, sizeof question, MPI_BYTE, rank, all->tag, all->world,
                       &request) == MPI_SUCCESS)
            (void)PMPI_Request_free(&request);
        if (!all->here[rank])
            continue;
        number_host(all, rank);
        if (!all->host[all->summary->host_of[rank]].known)
            all->here[rank] = measure_clock(all, rank);
        if (all->here[rank])
            all->here[rank] = receive_data(all, rank);
    }
}

static bool allocate(gathering *all) {
    const size_t ranks = (size_t)all->ranks;
    coll_summary *into = all->summary;
    all->hellos = calloc(ranks, sizeof *all->hellos);
    all->here = calloc(ranks, sizeof *all->here);
    all->host = calloc(ranks, sizeof *all->host);
    into->host_of = calloc(ranks, sizeof *into->host_of);
    into->host_names = calloc(ranks, sizeof *into->host_names);
    into->rows = calloc(COLL_REPORT_ROWS, sizeof *into->rows);
    if (!all->hellos || !all->here || !all->host || !into->host_of || !into->host_names ||
        !into->rows)
        return false;
    all->own = make_data(all->world, &all->hellos[0]);
    all->arrivals = coll_arrivals_make(into->host_of);
    all->calls = coll_job_calls_make(all->ranks);
    all->here[0] = true;
    return all->own && all->arrivals && all->calls;
}

/* Returns the group of all ranks if their places and the costs of messages are known, else NULL. */
static const coll_report_group *find_whole_group(int ranks) {
    int count;
    const coll_report_class *classes = coll_report_classes(&count);
    for (int i = 0; i < count; i++)
        if (classes[i].group && classes[i].group->ranks == ranks && classes[i].group->common)
            return classes[i].group;
    return NULL;
}

/* --- Links --- */

static int by_own_address(const void *a, const void *b) {
    const sender *one = a, *other = b;
    return (one->to.own > other->to.own) - (one->to.own < other->to.own);
}

/* Sets FLOWS to what each host has sent to each other host. Returns the number of flows, one for
 * each ordered pair of hosts with a connection between them. The host of a peer's
 * address is the one that reports a connection with this address as its own. */
static int list_flows(const gathering *all, coll_flow flows[]) {
    const int hosts = all->summary->hosts;
    const size_t senders = (size_t)all->sender_count;
    int count = 0;
    if (senders > 0)
        qsort(all->senders, senders, sizeof *all->senders, by_own_address);
    for (size_t i = 0; i < senders; i++) {
        const coll_tcp_connection *c = &all->senders[i].to;
        const sender *to = bsearch(&(sender){.to.own = c->peer}, all->senders, senders,
                                   sizeof *all->senders, by_own_address);
        const int from = all->senders[i].host;
        if (!to || to->host == from || c->connecting)
            continue;
        coll_flow *flow = &flows[from * hosts + to->host];
        flow->from = from;
        flow->to = to->host;
        flow->bytes += c->bytes;
        flow->busy += c->busy;
        flow->sent += (double)c->sent;
        flow->resent += (double)c->resent;
    }
    for (int i = 0; i < hosts * hosts; i++)
        if (flows[i].from != flows[i].to)
            flows[count++] = flows[i];
    return count;
}

/* Finds the link that is worse than the others. Uplinks of racks are known only if WHOLE is not
 * NULL. With several sites it finds none, since links then differ anyway. */
static void find_link(gathering *all, const coll_report_group *whole) {
    const size_t hosts = (size_t)all->summary->hosts;
    if (all->sender_count < 0 || hosts > LINK_HOSTS || all->summary->missing > 0 ||
        (whole && whole->topo.sites != 1))
        return;
    coll_flow *flows = calloc(hosts * hosts, sizeof *flows);
    int *rack_of = calloc(hosts, sizeof *rack_of);
    for (int i = 0; i < all->ranks && whole && rack_of; i++)
        rack_of[all->summary->host_of[whole->members[i]]] = whole->topo.places[i].rack;
    if (flows && rack_of)
        all->summary->link = coll_links_find(list_flows(all, flows), flows, (int)hosts,
                                             whole && whole->topo.racks > 1 ? rack_of : NULL);
    free(flows);
    free(rack_of);
}

/* Sets the latencies of PROFILE, unless coll-profile has measured them, to the mean times of the
 * short messages with which the clocks were compared. Those found when the job began are rounded.
 */
static void set_latencies(const gathering *all, const coll_topo *topo, coll_profile *profile) {
    double sum[COLL_LEVELS] = {0}, mean[COLL_LEVELS] = {0};
    int count[COLL_LEVELS] = {0};
    for (int rank = 1; rank < all->ranks; rank++) {
        const coll_level level = coll_topo_level(topo, 0, rank);
        sum[level] += all->host[all->summary->host_of[rank]].trip;
        mean[level] = sum[level] / ++count[level];
    }
    coll_profile_set_latencies(profile, mean[COLL_LEVEL_RACK], mean[COLL_LEVEL_SITE]);
}

/* Replays the calls to find what libcoll has saved, if the places of all ranks are known. */
static void replay(gathering *all, const coll_report_group *whole) {
    int *place_of = malloc((size_t)all->ranks * sizeof *place_of);
    coll_topo topo = {.ranks = 0};
    for (int i = 0; i < all->ranks && whole && place_of; i++)
        place_of[whole->members[i]] = i;
    if (whole && place_of && whole->topo.sites == 1 && all->summary->missing == 0 &&
        coll_topo_part(&whole->topo, all->ranks, place_of, &topo) == MPI_SUCCESS) {
        coll_profile profile = coll_job_cache_facts_of(whole->common)->profile;
        set_latencies(all, &topo, &profile);
        (void)coll_job_calls_replay(all->calls, REPLAY, &topo, &profile, all->summary->count,
                                    all->summary->rows);
    }
    coll_topo_free(&topo);
    free(place_of);
}

static void summarize(gathering *all, const bool expected[]) {
    coll_summary *into = all->summary;
    for (int rank = 0; rank < all->ranks; rank++) {
        into->ranks += all->here[rank];
        if (!all->here[rank] && expected[rank] && into->missing++ == 0)
            into->first_missing = rank;
    }
    for (int i = 0; i < into->hosts; i++)
        if (all->host[i].known) /* of no use from a host that didn't answer */
            into->clock_error = fmax(into->clock_error, all->host[i].error);
    into->seconds = coll_report_age();
    into->lost /= into->ranks;
    into->late_count =
        coll_arrivals_find(all->arrivals, into->clock_error, into->late, COLL_SUMMARY_LATE);
    for (int i = 0; i < into->count; i++) {
        into->served = into->served || strcmp(into->rows[i].algorithm, "native") != 0;
        coll_report_finish_saved(&into->rows[i]);
    }
    const coll_report_group *whole = find_whole_group(all->ranks);
    find_link(all, whole);
    if (into->served)
        replay(all, whole);
    coll_summary_sort(into);
    const coll_rank_infos infos = {(const char *)&all->hellos[0].info, sizeof *all->hellos};
    if (into->ranks == all->ranks)
        (void)coll_topo_make(&infos, all->ranks, &into->topo);
}

bool coll_gather(MPI_Comm world, int tag, double timeout, const bool expected[],
                 coll_summary *summary) {
    gathering all = {
        .world = world, .tag = tag, .limit = timeout > 0 ? timeout : FOR_RANKS, .summary = summary};
    *summary = (coll_summary){.ranks = 0};
    bool good = PMPI_Comm_size(world, &all.ranks) == MPI_SUCCESS && allocate(&all) &&
                receive_hellos(&all, expected);
    if (good) {
        receive_all(&all, expected);
        summarize(&all, expected);
    }
    coll_arrivals_free(all.arrivals);
    coll_job_calls_free(all.calls);
    free(all.senders);
    free(all.hellos);
    free(all.here);
    free(all.host);
    free(all.own);
    return good;
}

void coll_gather_free(coll_summary *summary) {
    coll_topo_free(&summary->topo);
    free(summary->rows);
    free(summary->host_names);
    free(summary->host_of);
}
