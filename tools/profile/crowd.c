/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/crowd.h"

#include "app/agreement.h"
#include "app/stats.h"

#include <coll.h>

#include <stdlib.h>

const int crowd_size[CROWD_SIZES] = {256, 1 << 10, 4 << 10, 8 << 10};

enum {
    TAG_PING = 31,
    TAG_PONG,
    TAG_STREAM,
    TAG_ORDER,
    TAG_CREDIT,
    TAG_RELAY,
    MESSAGE = 32 << 10, /* bytes of a stream's message: below eager limits, like segments */
    WINDOW = 8,         /* messages of a stream per confirmation */
    MOST_SAMPLES = 1000,
    UNDER_WAY = 32 << 10, /* bytes of all converging streams that are under way */
    MOST_CREDITS = 8,     /* messages of one sender that are under way */
    MESSAGES = 64,        /* of each sender, at one size in one round */
    ROUNDS = 3
};

/* --- Pairs --- */

/* Receives bytes from PEER and sends each of them back, until an empty message arrives. */
static int answer_pings(int peer, MPI_Comm comm) {
    for (;;) {
        char byte;
        int count;
        MPI_Status status;
        int code = MPI_Recv(&byte, 1, MPI_BYTE, peer, TAG_PING, comm, &status);
        if (code == MPI_SUCCESS)
            code = MPI_Get_count(&status, MPI_BYTE, &count);
        if (code != MPI_SUCCESS || count == 0)
            return code;
        code = MPI_Send(&byte, 1, MPI_BYTE, peer, TAG_PONG, comm);
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* Sets *MESSAGE to the median half round trip, in seconds, of ping-pongs for at most about SECONDS.
 */
static int time_pings(int peer, MPI_Comm comm, double seconds, double *message) {
    double samples[MOST_SAMPLES], began = MPI_Wtime();
    char byte = 0;
    int count = 0, code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && count < MOST_SAMPLES &&
           (count == 0 || MPI_Wtime() - began < seconds)) {
        double start = MPI_Wtime();
        code = MPI_Sendrecv(&byte, 1, MPI_BYTE, peer, TAG_PING, &byte, 1, MPI_BYTE, peer, TAG_PONG,
                            comm, MPI_STATUS_IGNORE);
        samples[count++] = (MPI_Wtime() - start) / 2;
    }
    *message = app_stats_median(samples, count);
    return code == MPI_SUCCESS ? MPI_Send(&byte, 0, MPI_BYTE, peer, TAG_PING, comm) : code;
}

/*
 * Streams to PEER for about SECONDS and sets *RATE to the bytes per second. PEER confirms each
 * window of messages.
 */
static int send_stream(int peer, MPI_Comm comm, double seconds, char *buffer, double *rate) {
    double began = MPI_Wtime();
    long windows = 0;
    int code = MPI_SUCCESS;
    for (int more = 1; more && code == MPI_SUCCESS; windows++) {
        more = MPI_Wtime() - began < seconds;
        for (int i = 0; i < WINDOW && code == MPI_SUCCESS; i++)
            code = MPI_Send(buffer, MESSAGE, MPI_BYTE, peer, TAG_STREAM, comm);
        if (code == MPI_SUCCESS)
            code = MPI_Send(&more, 1, MPI_INT, peer, TAG_PING, comm);
        /* Waits only for the confirmation of the previous window, so that the stream never
         * pauses. */
        if (code == MPI_SUCCESS && windows > 0)
            code = MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG_PONG, comm, MPI_STATUS_IGNORE);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG_PONG, comm, MPI_STATUS_IGNORE);
    *rate = (double)windows * WINDOW * MESSAGE / (MPI_Wtime() - began);
    return code;
}

/* Receives PEER's stream and confirms each window. */
static int receive_stream(int peer, MPI_Comm comm, char *buffer) {
    int code = MPI_SUCCESS;
    for (int more = 1; more && code == MPI_SUCCESS;) {
        for (int i = 0; i < WINDOW && code == MPI_SUCCESS; i++)
            code = MPI_Recv(buffer, MESSAGE, MPI_BYTE, peer, TAG_STREAM, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            code = MPI_Recv(&more, 1, MPI_INT, peer, TAG_PING, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            code = MPI_Send(NULL, 0, MPI_BYTE, peer, TAG_PONG, comm);
    }
    return code;
}

int crowd_pair(int peer, bool leads, MPI_Comm comm, double seconds, crowd_result *result) {
    char *buffer = calloc(1, MESSAGE);
    int code = buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS)
        code = leads ? time_pings(peer, comm, seconds, &result->message) : answer_pings(peer, comm);
    if (code == MPI_SUCCESS)
        code = leads ? send_stream(peer, comm, seconds, buffer, &result->rate)
                     : receive_stream(peer, comm, buffer);
    free(buffer);
    return code;
}

/* --- Relays --- */

/*
 * Broadcasts *MORE down the chain, and on the first rank waits until all other ranks have received
 * it. *MORE says whether another broadcast follows.
 */
static int chain_once(MPI_Comm chain, int rank, int ranks, char *more) {
    int code = COLL_Bcast(more, 1, MPI_BYTE, 0, chain);
    if (code != MPI_SUCCESS || rank > 0)
        return code == MPI_SUCCESS ? MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_RELAY, chain) : code;
    for (int other = 1; other < ranks && code == MPI_SUCCESS; other++)
        code = MPI_Recv(NULL, 0, MPI_BYTE, other, TAG_RELAY, chain, MPI_STATUS_IGNORE);
    return code;
}

/* Repeats chain_once for at most about LIMIT seconds; sets *MEDIAN on the chain's first rank. */
static int time_chain(MPI_Comm chain, double limit, double *median) {
    double samples[MOST_SAMPLES], began = MPI_Wtime();
    int rank = app_rank(chain), ranks = app_ranks(chain), count = 0,
        code = COLL_Set(chain, "bcast", "chain");
    for (char more = 1; more && code == MPI_SUCCESS; count++) {
        double start = MPI_Wtime();
        if (rank == 0)
            more = count < 2 || (count < MOST_SAMPLES - 1 && start - began < limit);
        code = chain_once(chain, rank, ranks, &more);
        samples[count % MOST_SAMPLES] = MPI_Wtime() - start;
    }
    if (rank == 0 && code == MPI_SUCCESS) /* without the first sample, in which libcoll was set
                                             up */
        *median = app_stats_median(samples + 1, count - 1);
    return code;
}

/* Makes a communicator of the first COUNT MEMBERS; *CHAIN is MPI_COMM_NULL on other ranks. */
static int make_chain(const int members[], int count, MPI_Comm comm, MPI_Comm *chain) {
    MPI_Group all, group;
    int code = MPI_Comm_group(comm, &all);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Group_incl(all, count, members, &group);
    MPI_Group_free(&all);
    if (code != MPI_SUCCESS)
        return code;
    int rank;
    MPI_Group_rank(group, &rank);
    *chain = MPI_COMM_NULL;
    if (rank != MPI_UNDEFINED)
        code = MPI_Comm_create_group(comm, group, TAG_RELAY, chain);
    MPI_Group_free(&group);
    return code;
}

/* Times chain broadcasts among the first COUNT MEMBERS; does nothing on other ranks. */
static int time_chain_of(const int members[], int count, MPI_Comm comm, double limit,
                         double *median) {
    MPI_Comm chain;
    int code = make_chain(members, count, comm, &chain);
    if (code != MPI_SUCCESS || chain == MPI_COMM_NULL)
        return code;
    code = time_chain(chain, limit, median);
    MPI_Comm_free(&chain);
    return code;
}

int crowd_relay(const int members[], int count, MPI_Comm comm, double limit, double *seconds) {
    double two = 0, all = 0;
    int code = time_chain_of(members, 2, comm, limit, &two);
    if (code == MPI_SUCCESS)
        code = time_chain_of(members, count, comm, limit, &all);
    *seconds = (all - two) / (count - 2);
    return code;
}

/* --- Converging streams --- */

/*
 * The receiver's order to a sender: to send MESSAGES messages of BYTES each, with at most CREDITS
 * of them under way; or, if MESSAGES is 0, to stop.
 */
typedef struct order {
    int bytes, messages, credits;
} order;

/* Returns how many messages of BYTES each of SENDERS ranks may have under way. */
static int credits_for(int bytes, int senders) {
    int credits = UNDER_WAY / (bytes * senders);
    return credits < 1 ? 1 : credits < MOST_CREDITS ? credits : MOST_CREDITS;
}

static int send_orders(const int senders[], int count, MPI_Comm comm, order o) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = MPI_Send(&o, (int)sizeof o, MPI_BYTE, senders[i], TAG_ORDER, comm);
    return code;
}

/*
 * Receives MESSAGES of BYTES from each sender and sets *GAP to the mean time between two arrivals.
 * Leaves out the first quarter, in which the streams start.
 */
static int receive_converging(const int senders[], int count, MPI_Comm comm, int bytes,
                              char *buffer, double *gap) {
    order o = {bytes, MESSAGES, credits_for(bytes, count)};
    int all = count * MESSAGES, quarter = all / 4;
    double start = 0;
    int code = send_orders(senders, count, comm, o);
    for (int i = 0; i < all && code == MPI_SUCCESS; i++) {
        MPI_Status status;
        code = MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, TAG_STREAM, comm, &status);
        if (i == quarter)
            start = MPI_Wtime();
        if (code == MPI_SUCCESS)
            code = MPI_Send(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_CREDIT, comm);
    }
    *gap = (MPI_Wtime() - start) / (all - 1 - quarter);
    return code;
}

int crowd_receive(const int senders[], int count, MPI_Comm comm, double seconds,
                  double gap[CROWD_SIZES]) {
    double began = MPI_Wtime();
    char *buffer = malloc((size_t)crowd_size[CROWD_SIZES - 1]);
    int code = buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int round = 0; round < ROUNDS && code == MPI_SUCCESS; round++) {
        if (round > 0 && MPI_Wtime() - began > seconds)
            break;
        for (int s = 0; s < CROWD_SIZES && code == MPI_SUCCESS; s++) {
            double now;
            code = receive_converging(senders, count, comm, crowd_size[s], buffer, &now);
            gap[s] = round == 0 || now < gap[s] ? now : gap[s];
        }
    }
    if (code == MPI_SUCCESS)
        code = send_orders(senders, count, comm, (order){.messages = 0});
    free(buffer);
    return code;
}

/* Sends the messages of order O, and waits for a credit whenever none is left. Returns when
 * RECEIVER has confirmed all messages. */
static int send_messages(int receiver, MPI_Comm comm, const order *o, const char *buffer) {
    int code = MPI_SUCCESS;
    for (int sent = 0, credits = o->credits, confirmed = 0;
         confirmed < o->messages && code == MPI_SUCCESS;) {
        if (sent < o->messages && credits > 0) {
            code = MPI_Send(buffer, o->bytes, MPI_BYTE, receiver, TAG_STREAM, comm);
            sent++;
            credits--;
        } else {
            code = MPI_Recv(NULL, 0, MPI_BYTE, receiver, TAG_CREDIT, comm, MPI_STATUS_IGNORE);
            confirmed++;
            credits++;
        }
    }
    return code;
}

int crowd_send(int receiver, MPI_Comm comm) {
    char *buffer = calloc(1, (size_t)crowd_size[CROWD_SIZES - 1]);
    int code = buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (order o = {.messages = 1}; o.messages && code == MPI_SUCCESS;) {
        code = MPI_Recv(&o, (int)sizeof o, MPI_BYTE, receiver, TAG_ORDER, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && o.messages)
            code = send_messages(receiver, comm, &o, buffer);
    }
    free(buffer);
    return code;
}
