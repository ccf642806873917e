/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Iallreduce as in LibNBC, with which Sancho, Kerbyson and Barker compare, and as Open MPI
 * still does it below 64 KB: values go up a binomial tree to rank 0, and the sum goes down another
 * tree. A rank only progresses in MPI_Iallreduce itself, in MPI_Wait and MPI_Test for its request,
 * and in any MPI_Waitall.
 *
 * This file replaces SMPI's own MPI_Iallreduce, which sends a message between every two ranks. Only
 * one allreduce may be active at a time, and only with contiguous values.
 *
 * Cost: 2 log2(p) messages in a row, plus, for each, the time until the receiving rank enters MPI.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 4096, MOST = 64 };

static struct {
    int rank, ranks, count;
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    void *sum, *incoming;
    size_t bytes;
    enum { DONE, UP, TURN, DOWN } stage;
    int bit; /* while going up: bit of the next child, then of the parent */
    int messages;
    MPI_Request round[MOST / 2]; /* messages in flight */
} it;

static int start_receive(int from) {
    return PMPI_Irecv(it.incoming, it.count, it.type, from, TAG, it.comm, &it.round[it.messages++]);
}

static int start_send(int to) {
    return PMPI_Isend(it.sum, it.count, it.type, to, TAG, it.comm, &it.round[it.messages++]);
}

/*
 * Receives the next child's values; after the last child, sends the sum up and waits for the total.
 */
static int go_up(void) {
    for (; it.bit < it.ranks && !(it.rank & it.bit); it.bit *= 2)
        if (it.rank + it.bit < it.ranks)
            return start_receive(it.rank + it.bit);
    it.stage = TURN;
    if (it.rank == 0)
        return MPI_SUCCESS;
    int highest = 1, code = start_send(it.rank - it.bit);
    while (2 * highest <= it.rank)
        highest *= 2;
    return code == MPI_SUCCESS ? start_receive(it.rank - highest) : code;
}

static int go_down(void) {
    int code = MPI_SUCCESS;
    it.stage = DOWN;
    for (int bit = 1; it.rank + bit < it.ranks && code == MPI_SUCCESS; bit *= 2)
        if (bit > it.rank)
            code = start_send(it.rank + bit);
    return code;
}

/* Processes what the last round received. */
static int process_received(void) {
    if (it.stage == TURN && it.rank > 0)
        memcpy(it.sum, it.incoming, it.bytes);
    if (it.stage != UP || !it.messages)
        return MPI_SUCCESS;
    it.bit *= 2;
    return PMPI_Reduce_local(it.incoming, it.sum, it.count, it.type, it.op);
}

static int messages_left(void) {
    int left = 0;
    for (int i = 0; i < it.messages; i++)
        left += it.round[i] != MPI_REQUEST_NULL;
    return left;
}

/* Starts rounds until one has messages to wait for. */
static int advance(void) {
    int code = MPI_SUCCESS;
    while (it.stage != DONE && !messages_left() && code == MPI_SUCCESS) {
        code = process_received();
        it.messages = 0;
        if (code != MPI_SUCCESS || it.stage == UP)
            code = code == MPI_SUCCESS ? go_up() : code;
        else if (it.stage == TURN)
            code = go_down();
        else {
            it.stage = DONE;
            free(it.incoming);
        }
    }
    return code;
}

/* Waits for one of the REQUESTS or of the round's messages, and progresses the allreduce. */
static int wait_for_any(int count, MPI_Request requests[]) {
    MPI_Request all[MOST];
    int done;
    memcpy(all, requests, (size_t)count * sizeof *all);
    memcpy(all + count, it.round, (size_t)it.messages * sizeof *all);
    int code = PMPI_Waitany(count + it.messages, all, &done, MPI_STATUS_IGNORE);
    memcpy(requests, all, (size_t)count * sizeof *all);
    memcpy(it.round, all + count, (size_t)it.messages * sizeof *all);
    return code == MPI_SUCCESS ? advance() : code;
}

int MPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request) {
    int size, code = PMPI_Type_size(type, &size);
    it.comm = comm;
    it.type = type;
    it.op = op;
    it.count = count;
    it.bytes = (size_t)count * (size_t)size;
    it.sum = all;
    it.stage = UP;
    it.bit = 1;
    it.messages = 0;
    PMPI_Comm_rank(comm, &it.rank);
    PMPI_Comm_size(comm, &it.ranks);
    it.incoming = malloc(it.bytes);
    if (code != MPI_SUCCESS || !it.incoming)
        return MPI_ERR_NO_MEM;
    memcpy(all, mine, it.bytes);
    *request = (MPI_Request)&it;
    return advance();
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (*request != (MPI_Request)&it)
        return PMPI_Wait(request, status);
    int code = MPI_SUCCESS;
    while (it.stage != DONE && code == MPI_SUCCESS)
        code = wait_for_any(0, NULL);
    *request = MPI_REQUEST_NULL;
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (*request != (MPI_Request)&it)
        return PMPI_Test(request, flag, status);
    int round_over, code = PMPI_Testall(it.messages, it.round, &round_over, MPI_STATUSES_IGNORE);
    if (code == MPI_SUCCESS && round_over)
        code = advance();
    *flag = it.stage == DONE;
    if (*flag)
        *request = MPI_REQUEST_NULL;
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    int left = count, code = MPI_SUCCESS;
    while (it.stage != DONE && left && code == MPI_SUCCESS) {
        code = wait_for_any(count, requests);
        left = 0;
        for (int i = 0; i < count; i++)
            left += requests[i] != MPI_REQUEST_NULL;
    }
    return code == MPI_SUCCESS ? PMPI_Waitall(count, requests, statuses) : code;
}
