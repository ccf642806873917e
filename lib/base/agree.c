#include "config.h"

#include "lib/base/agree.h"

#include "lib/base/error.h"

#include <string.h>

/* Waits for one request until DATE at most; says whether it is complete. */
static bool arrives(coll_comm *comm, MPI_Request *request, double date) {
    int index;
    double left = date - PMPI_Wtime();
    int code = coll_wait_any_for(&comm->wait, left > 0 ? left : 1e-9, 1, request, &index);
    return code == MPI_SUCCESS && *request == MPI_REQUEST_NULL;
}

/* Rank 0 hears who is there, for as long as others may have come later than itself, and tells. */
static void call_roll(coll_comm *comm, coll_roll *roll) {
    double date = PMPI_Wtime() + comm->wait.timeout;
    MPI_Request request;
    *roll = (coll_roll){.first = -1};
    for (int rank = 1; rank < comm->ranks; rank++) {
        if (PMPI_Irecv(NULL, 0, MPI_BYTE, rank, COLL_TAG_ROLL_CALL, comm->private, &request) !=
            MPI_SUCCESS)
            return;
        if (arrives(comm, &request, date))
            continue;
        coll_wait_abandon(1, &request);
        roll->silent++;
        roll->first = roll->first < 0 ? rank : roll->first;
    }
    for (int rank = 1; rank < comm->ranks; rank++)
        if (PMPI_Isend(roll, (int)sizeof *roll, MPI_BYTE, rank, COLL_TAG_ROLL_CALL, comm->private,
                       &request) == MPI_SUCCESS &&
            !arrives(comm, &request, PMPI_Wtime() + comm->wait.timeout))
            coll_wait_abandon(1, &request);
}

/* The others say that they are there and hear from rank 0 who isn't, if it is. */
static void answer_roll(coll_comm *comm, coll_roll *roll) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    *roll = (coll_roll){.first = 0, .silent = 1};
    coll_roll *heard = &comm->agreement.heard;
    bool good = PMPI_Isend(NULL, 0, MPI_BYTE, 0, COLL_TAG_ROLL_CALL, comm->private, &requests[0]) ==
                    MPI_SUCCESS &&
                PMPI_Irecv(heard, (int)sizeof *heard, MPI_BYTE, 0, COLL_TAG_ROLL_CALL,
                           comm->private, &requests[1]) == MPI_SUCCESS;
    if (good && arrives(comm, &requests[1], PMPI_Wtime() + 3 * comm->wait.timeout))
        *roll = *heard;
    coll_wait_abandon(2, requests);
}

/*
 * The error of an agreement that didn't end in time. Nobody can have left it without all others, so
 * those who don't answer are those who haven't come.
 */
static int name_the_silent(coll_comm *comm) {
    coll_roll *roll = &comm->agreement.named;
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

/* MPI may still write to what it was given when a wait has failed: it lives with the communicator.
 */
int coll_agree_finish(coll_comm *comm, MPI_Request *request) {
    int index = 0;
    int code = comm->wait.timeout > 0
                   ? coll_wait_any_for(&comm->wait, comm->wait.timeout, 1, request, &index)
                   : coll_wait_all(&comm->wait, 1, request, NULL);
    if (code == MPI_SUCCESS && index == MPI_UNDEFINED && *request != MPI_REQUEST_NULL)
        code = name_the_silent(comm);
    if (code != MPI_SUCCESS)
        comm->broken = code;
    return code;
}

/* The same after the call that started it, which returned CODE. */
static int finish(coll_comm *comm, int code, MPI_Request *request) {
    if (code == MPI_SUCCESS)
        return coll_agree_finish(comm, request);
    return comm->broken = code;
}

int coll_agree_highest(coll_comm *comm, int count, const int64_t numbers[], int64_t highest[]) {
    coll_agreement *now = &comm->agreement;
    MPI_Request request;
    memcpy(now->numbers, numbers, (size_t)count * sizeof *numbers);
    int code = PMPI_Iallreduce(now->numbers, now->highest, count, MPI_INT64_T, MPI_MAX,
                               comm->private, &request);
    code = finish(comm, code, &request);
    if (code == MPI_SUCCESS)
        memcpy(highest, now->highest, (size_t)count * sizeof *highest);
    return code;
}

/* All ranks learn of the error that FAILING has. */
static int learn(coll_comm *comm, int failing, int code) {
    coll_agreement *now = &comm->agreement;
    MPI_Request request;
    int length;
    if (comm->rank == failing) {
        now->error.class = coll_error_class(code);
        PMPI_Error_string(code, now->error.text, &length);
    }
    int learnt = PMPI_Ibcast(&now->error, (int)sizeof now->error, MPI_BYTE, failing, comm->private,
                             &request);
    learnt = finish(comm, learnt, &request);
    if (learnt != MPI_SUCCESS)
        return learnt;
    return comm->rank == failing ? code : coll_error(now->error.class, "%s", now->error.text);
}

int coll_agree(coll_comm *comm, int code) {
    /* The lowest rank, as the highest of the negatives. */
    int64_t mine = code == MPI_SUCCESS ? INT64_MIN : -(int64_t)comm->rank, failing;
    int agreed = coll_agree_highest(comm, 1, &mine, &failing);
    if (agreed != MPI_SUCCESS || failing == INT64_MIN)
        return agreed;
    return learn(comm, (int)-failing, code);
}

int coll_agree_good(MPI_Comm comm, bool good, bool *all) {
    int mine = good, least = 0;
    int code = PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm);
    *all = least;
    return code;
}
