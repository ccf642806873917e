/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/agree.h"

#include "lib/base/error.h"
#include "lib/pattern/binomial.h"

#include <string.h>

/* Waits for REQUEST until DATE (of PMPI_Wtime) and returns whether it has completed. */
static bool completes_by(coll_comm *comm, MPI_Request *request, double date) {
    int index;
    double left = date - PMPI_Wtime();
    int code = coll_wait_any_for(&comm->wait, left > 0 ? left : 1e-9, 1, request, &index);
    return code == MPI_SUCCESS && *request == MPI_REQUEST_NULL;
}

/*
 * Rank 0 collects an empty message from each rank until the timeout, then sends every rank the
 * lowest silent rank and the number of silent ranks. The timeout begins now, since other ranks may
 * have come later than rank 0.
 */
static void call_roll(coll_comm *comm, coll_roll *roll) {
    double date = PMPI_Wtime() + comm->wait.timeout;
    MPI_Request request;
    *roll = (coll_roll){.first = -1};
    for (int rank = 1; rank < comm->ranks; rank++) {
        if (coll_irecv(comm, NULL, 0, MPI_BYTE, rank, COLL_TAG_ROLL_CALL, &request) != MPI_SUCCESS)
            return;
        if (completes_by(comm, &request, date))
            continue;
        coll_wait_abandon(1, &request);
        roll->silent++;
        roll->first = roll->first < 0 ? rank : roll->first;
    }
    for (int rank = 1; rank < comm->ranks; rank++)
        if (coll_isend(comm, roll, (int)sizeof *roll, MPI_BYTE, rank, COLL_TAG_ROLL_CALL,
                       &request) == MPI_SUCCESS &&
            !completes_by(comm, &request, PMPI_Wtime() + comm->wait.timeout))
            coll_wait_abandon(1, &request);
}

/*
 * The other ranks report to rank 0 and receive its result. If rank 0 does not answer, rank 0 counts
 * as the silent rank.
 */
static void answer_roll(coll_comm *comm, coll_roll *roll) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    *roll = (coll_roll){.first = 0, .silent = 1};
    coll_roll *heard = &comm->agreeing.heard;
    bool good =
        coll_isend(comm, NULL, 0, MPI_BYTE, 0, COLL_TAG_ROLL_CALL, &requests[0]) == MPI_SUCCESS &&
        coll_irecv(comm, heard, (int)sizeof *heard, MPI_BYTE, 0, COLL_TAG_ROLL_CALL,
                   &requests[1]) == MPI_SUCCESS;
    if (good && completes_by(comm, &requests[1], PMPI_Wtime() + 3 * comm->wait.timeout))
        *roll = *heard;
    coll_wait_abandon(2, requests);
}

/*
 * Returns the error of an agreement that did not complete in time. No rank can leave an agreement
 * before all have entered it, so the ranks that do not answer the roll call have not entered it
 * yet.
 */
static int find_silent_ranks(coll_comm *comm) {
    coll_roll *roll = &comm->agreeing.named;
    if (comm->rank == 0)
        call_roll(comm, roll);
    else
        answer_roll(comm, roll);
    if (roll->silent == 0)
        return coll_error(MPI_ERR_OTHER,
                          "some rank came more than %.1f s late; raise COLL_TIMEOUT "
                          "(seconds)",
                          comm->wait.timeout);
    return coll_wait_silent(comm->wait.timeout, roll->first, roll->silent - 1);
}

/* --- The largest numbers --- */

/* What a rank does in a round: with which rank it exchanges numbers, and in which direction. */
typedef struct exchange {
    int partner;
    bool sends, receives;
} exchange;

int coll_agreement_rounds(int ranks) {
    const int doublings = coll_tree_doublings(ranks), folds = 1 << doublings < ranks ? 2 : 0;
    return doublings + folds;
}

/*
 * Returns what RANK does in ROUND of recursive doubling. If the number of ranks is no power of two,
 * so many of the first ranks are paired that a power of two remains: the even rank of each pair
 * sends its numbers to the odd one in the first round, and receives the maxima in the last one. MPI
 * libraries' allreduces often use the same partners, so that few connections are opened.
 */
static exchange exchange_of(int ranks, int rank, int round) {
    const int pairs = ranks - (1 << coll_tree_doublings(ranks));
    const bool paired = rank < 2 * pairs, odd = rank % 2;
    if (pairs > 0 && round == 0)
        return (exchange){rank ^ 1, paired && !odd, paired && odd};
    if (pairs > 0 && round == coll_agreement_rounds(ranks) - 1)
        return (exchange){rank ^ 1, paired && odd, paired && !odd};
    if (paired && !odd)
        return (exchange){rank, false, false};
    const int index = paired ? rank / 2 : rank - pairs,
              other = index ^ (1 << (pairs > 0 ? round - 1 : round));
    return (exchange){other < pairs ? 2 * other + 1 : other + pairs, true, true};
}

/* Starts a round. A rank that receives nothing keeps its maxima. */
static int start_round(coll_agreement *a) {
    const coll_comm *comm = a->comm;
    const exchange now = exchange_of(comm->ranks, comm->rank, a->round);
    int code = MPI_SUCCESS;
    memcpy(a->sent, a->highest, sizeof a->sent);
    memcpy(a->received, a->highest, sizeof a->received);
    if (now.receives)
        code = coll_irecv(comm, a->received, a->count, MPI_INT64_T, now.partner, a->tag,
                          &a->requests[0]);
    if (code == MPI_SUCCESS && now.sends)
        code =
            coll_isend(comm, a->sent, a->count, MPI_INT64_T, now.partner, a->tag, &a->requests[1]);
    return code;
}

static bool is_complete(const coll_agreement *a) {
    return a->round >= coll_agreement_rounds(a->comm->ranks);
}

/* Merges the numbers received in this round and starts the next round, if any. */
static int complete_round(coll_agreement *a) {
    for (int i = 0; i < a->count; i++)
        if (a->received[i] > a->highest[i])
            a->highest[i] = a->received[i];
    a->round++;
    return is_complete(a) ? MPI_SUCCESS : start_round(a);
}

int coll_agreement_start(coll_agreement *a, coll_comm *comm, int tag, int count,
                         const int64_t numbers[]) {
    *a = (coll_agreement){
        .comm = comm, .tag = tag, .count = count, .requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    memcpy(a->highest, numbers, (size_t)count * sizeof *numbers);
    int code = is_complete(a) ? MPI_SUCCESS : start_round(a);
    if (code != MPI_SUCCESS)
        comm->broken = code;
    return code;
}

int coll_agreement_advance(coll_agreement *a, bool *done) {
    int code = MPI_SUCCESS, arrived = true;
    while (code == MPI_SUCCESS && arrived && !is_complete(a)) {
        code = PMPI_Testall(2, a->requests, &arrived, MPI_STATUSES_IGNORE);
        if (code == MPI_SUCCESS && arrived)
            code = complete_round(a);
    }
    if (code != MPI_SUCCESS)
        a->comm->broken = code;
    *done = is_complete(a);
    return code;
}

bool coll_agreement_under_way(const coll_agreement *a) {
    return a->comm && !is_complete(a);
}

int coll_agreement_finish(coll_agreement *a) {
    coll_comm *comm = a->comm;
    int code = MPI_SUCCESS, next = 0;
    while (code == MPI_SUCCESS && next != MPI_UNDEFINED && !is_complete(a)) {
        if (a->requests[0] == MPI_REQUEST_NULL && a->requests[1] == MPI_REQUEST_NULL)
            code = complete_round(a);
        else
            code = coll_wait_any_for(&comm->wait, comm->wait.timeout, 2, a->requests, &next);
    }
    if (code == MPI_SUCCESS && !is_complete(a))
        code = find_silent_ranks(comm);
    if (code != MPI_SUCCESS)
        comm->broken = code;
    return code;
}

int coll_agree_highest(coll_comm *comm, int count, const int64_t numbers[], int64_t highest[]) {
    coll_agreement *now = &comm->agreeing.numbers;
    int code = coll_agreement_start(now, comm, COLL_TAG_AGREE, count, numbers);
    if (code == MPI_SUCCESS)
        code = coll_agreement_finish(now);
    if (code == MPI_SUCCESS)
        memcpy(highest, now->highest, (size_t)count * sizeof *highest);
    return code;
}

/* --- One rank's error --- */

/* Rank FAILING sends its error to each other rank in turn: errors are too rare for a tree. */
static int send_error_to_all(coll_comm *comm, int failing) {
    coll_agree_memory *now = &comm->agreeing;
    const int bytes = (int)sizeof now->error;
    MPI_Request request;
    int code = MPI_SUCCESS;
    if (comm->rank != failing) {
        code = coll_irecv(comm, &now->error, bytes, MPI_BYTE, failing, COLL_TAG_AGREE, &request);
        return code == MPI_SUCCESS ? coll_wait_all(&comm->wait, 1, &request, &failing) : code;
    }
    for (int rank = 0; rank < comm->ranks && code == MPI_SUCCESS; rank++) {
        if (rank == failing)
            continue;
        code = coll_isend(comm, &now->error, bytes, MPI_BYTE, rank, COLL_TAG_AGREE, &request);
        if (code == MPI_SUCCESS)
            code = coll_wait_all(&comm->wait, 1, &request, &rank);
    }
    return code;
}

/* Returns the error CODE of rank FAILING on all ranks. */
static int share_error(coll_comm *comm, int failing, int code) {
    coll_agree_memory *now = &comm->agreeing;
    int length;
    if (comm->rank == failing) {
        now->error.class = coll_error_class(code);
        PMPI_Error_string(code, now->error.text, &length);
    }
    int shared = send_error_to_all(comm, failing);
    if (shared != MPI_SUCCESS)
        return comm->broken = shared;
    comm->agreed = true;
    return comm->rank == failing ? code : coll_error(now->error.class, "%s", now->error.text);
}

int coll_agree(coll_comm *comm, int code) {
    /* The lowest failing rank is the maximum of the negated ranks. */
    int64_t mine = code == MPI_SUCCESS ? INT64_MIN : -(int64_t)comm->rank, failing;
    int agreed = coll_agree_highest(comm, 1, &mine, &failing);
    if (agreed != MPI_SUCCESS || failing == INT64_MIN)
        return agreed;
    return share_error(comm, (int)-failing, code);
}

int coll_agree_good(MPI_Comm comm, bool good, bool *all) {
    int mine = good, least = 0;
    int code = PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm);
    *all = least;
    return code;
}
