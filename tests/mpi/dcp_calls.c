/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the operations that DCPs serve besides allreduces: every rank gets the result of the MPI
 * library's own call, for any number of DCPs, each root, any type, and communicators of all and of
 * some ranks.
 */
#include "config.h"

#include "app/agreement.h"
#include "cdcp/client_comm.h"
#include "cdcp/dcp.h"
#include "cdcp/job.h"
#include "cdcp/request_pool.h"
#include "coll.h"
#include "tests/support/dcp_run.h"
#include "tests/support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ints, contiguous on some ranks and with gaps on others. */
typedef struct ints {
    MPI_Datatype type;
    int stride, count;
    int *at; /* gaps have the value UNTOUCHED */
} ints;
enum { UNTOUCHED = -77 };

/* Makes COUNT ints with a stride that depends on the rank. */
static ints make_ints(int count, MPI_Comm comm) {
    ints made = {.type = MPI_INT, .stride = 1 + app_rank(comm) % 2, .count = count};
    if (made.stride > 1) {
        MPI_Type_create_resized(MPI_INT, 0, made.stride * (MPI_Aint)sizeof(int), &made.type);
        MPI_Type_commit(&made.type);
    }
    size_t places = (size_t)count * (size_t)made.stride + 1;
    made.at = malloc(places * sizeof *made.at);
    for (size_t i = 0; i < places; i++)
        made.at[i] = UNTOUCHED;
    return made;
}

static void free_type(ints *freed) {
    if (freed->stride > 1 && freed->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&freed->type);
}

static void free_ints(ints *freed) {
    free_type(freed);
    free(freed->at);
}

/* Returns int number I of RANK's input in step STEP. */
static int brought(int step, int rank, int i) {
    return (step * 31 + rank) * 1009 + i % 997;
}

static void bring(ints *to, int step, int rank) {
    for (int i = 0; i < to->count; i++)
        to->at[i * to->stride] = brought(step, rank, i);
}

static bool untouched_between(const ints *data) {
    for (int i = 0; i < data->count; i++)
        if (data->stride > 1 && data->at[i * data->stride + 1] != UNTOUCHED)
            return false;
    return true;
}

static bool same_ints(const ints *a, const ints *b) {
    bool good = untouched_between(a);
    for (int i = 0; i < a->count; i++)
        good = a->at[i * a->stride] == b->at[i * b->stride] && good;
    return good;
}

/*
 * Does WORK on APP, a duplicate of it, its halves with ranks in reverse order, and most of its
 * ranks.
 */
static bool on_several(MPI_Comm app, bool (*work)(MPI_Comm comm)) {
    int rank = app_rank(app);
    MPI_Comm comms[3];
    MPI_Comm_dup(app, &comms[0]);
    MPI_Comm_split(app, rank % 2, -rank, &comms[1]);
    MPI_Comm_split(app, rank == 1 ? MPI_UNDEFINED : 0, rank, &comms[2]);
    bool good = work(app);
    for (int i = 0; i < 3; i++) {
        good = coll_dcp_register(comms[i]) == MPI_SUCCESS && good;
        if (comms[i] == MPI_COMM_NULL)
            continue;
        good = (app_ranks(comms[i]) == 1 || work(comms[i])) && good;
        MPI_Comm_free(&comms[i]);
    }
    return good;
}

/* --- Broadcasts --- */

static bool bcast(int count, int root, MPI_Comm comm) {
    ints ours = make_ints(count, comm), native = make_ints(count, comm);
    coll_dcp_request *request;
    if (app_rank(comm) == root) {
        bring(&ours, count, root);
        bring(&native, count, root);
    }
    bool good = coll_dcp_post_bcast(ours.at, count, ours.type, root, comm, &request) == MPI_SUCCESS;
    PMPI_Bcast(native.at, count, native.type, root, comm);
    free_type(&ours); /* the type lives until the call is complete */
    good = good && request && dcp_run_wait(&request) == MPI_SUCCESS && same_ints(&ours, &native);
    if (!good)
        fprintf(stderr, "bcast of %d from %d of %d is wrong\n", count, root, app_ranks(comm));
    free_ints(&ours);
    free_ints(&native);
    return good;
}

static bool all_bcasts(MPI_Comm comm) {
    const int counts[] = {0, 1, 7, (int)(coll_the_job.limit / sizeof(int))};
    bool good = true;
    for (int root = 0; root < app_ranks(comm); root++)
        for (int i = 0; i < 4; i++)
            good = bcast(counts[i], root, comm) && good;
    return good;
}

static bool bcasts(MPI_Comm app, void *context) {
    (void)context;
    return on_several(app, all_bcasts);
}

START_TEST(broadcasts) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, bcasts, NULL), "broadcasts");
}
END_TEST

/* --- Alltoalls --- */

static bool alltoall(int count, bool in_place, MPI_Comm comm) {
    int ranks = app_ranks(comm);
    ints from = make_ints(count * ranks, comm), native = make_ints(count * ranks, comm);
    ints ours = make_ints(count * ranks, comm);
    coll_dcp_request *request;
    bring(in_place ? &ours : &from, count, app_rank(comm));
    bring(&from, count, app_rank(comm));
    const void *sent = in_place ? MPI_IN_PLACE : from.at;
    MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : from.type;
    bool good = coll_dcp_post_alltoall(sent, count, type, ours.at, count, ours.type, comm,
                                       &request) == MPI_SUCCESS;
    PMPI_Alltoall(from.at, count, from.type, native.at, count, native.type, comm);
    free_type(&ours);
    bring(&from, -1, 0); /* the input has been read already */
    good = good && request && dcp_run_wait(&request) == MPI_SUCCESS && same_ints(&ours, &native);
    if (!good)
        fprintf(stderr, "alltoall of %d among %d is wrong\n", count, ranks);
    free_ints(&from);
    free_ints(&native);
    free_ints(&ours);
    return good;
}

/* Returns the size of the largest blocks that DCPs serve, in ints. */
static int most_ints(MPI_Comm comm) {
    return (int)(coll_the_job.blocks / sizeof(int)) / app_ranks(comm);
}

static bool all_alltoalls(MPI_Comm comm) {
    const int counts[] = {0, 1, 7, most_ints(comm)};
    bool good = true;
    for (int i = 0; i < 4; i++)
        for (int in_place = 0; in_place < 2; in_place++)
            good = alltoall(counts[i], in_place, comm) && good;
    return good;
}

static bool alltoalls(MPI_Comm app, void *context) {
    (void)context;
    return on_several(app, all_alltoalls);
}

START_TEST(all_to_all) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, alltoalls, NULL), "alltoalls");
}
END_TEST

/* --- Reduce_scatters --- */

/* Sums that depend on the order of summation have the same bits as those of an allreduce. */
static bool reduce_scatter(int count, bool in_place, MPI_Comm comm) {
    int ranks = app_ranks(comm), rank = app_rank(comm), all = count * ranks;
    double *from = calloc((size_t)all + 1, sizeof *from), *to = calloc((size_t)all + 1, sizeof *to);
    double *sums = calloc((size_t)all + 1, sizeof *sums);
    coll_dcp_request *request;
    bool good = true;
    for (int i = 0; i < all; i++)
        from[i] = brought(count, rank, i) * (i % 3 ? 1e-9 : 1e9) / 7;
    for (int i = 0; i < ranks && good;
         i++) /* all blocks together may be longer than an allreduce */
        for (int at = i * count; at < (i + 1) * count && good; at++)
            good = coll_dcp_post(from + at, sums + at, 1, MPI_DOUBLE, MPI_SUM, comm, &request) ==
                       MPI_SUCCESS &&
                   dcp_run_wait(&request) == MPI_SUCCESS;
    if (in_place)
        memcpy(to, from, (size_t)all * sizeof *to);
    good = good && coll_dcp_post_reduce_scatter(in_place ? MPI_IN_PLACE : from, to, count,
                                                MPI_DOUBLE, MPI_SUM, comm, &request) == MPI_SUCCESS;
    memset(from, 0, (size_t)all * sizeof *from);
    good = good && request && dcp_run_wait(&request) == MPI_SUCCESS &&
           memcmp(to, sums + rank * count, (size_t)count * sizeof *to) == 0;
    if (!good)
        fprintf(stderr, "reduce_scatter of %d among %d is wrong\n", count, ranks);
    free(from);
    free(to);
    free(sums);
    return good;
}

/* Compares results for the largest blocks with the MPI library's, whose integers are exact. */
static bool large_reduce_scatter(MPI_Comm comm) {
    int count = most_ints(comm);
    ints from = {.stride = 1, .count = count * app_ranks(comm)};
    int *ours = malloc((size_t)count * sizeof *ours),
        *native = malloc((size_t)count * sizeof *ours);
    from.at = malloc((size_t)from.count * sizeof *from.at);
    coll_dcp_request *request;
    bring(&from, 1, app_rank(comm));
    bool good = !coll_dcp_takes_reduce_scatter(count + 1, MPI_INT, MPI_MAX, comm) &&
                coll_dcp_post_reduce_scatter(from.at, ours, count, MPI_INT, MPI_MAX, comm,
                                             &request) == MPI_SUCCESS;
    PMPI_Reduce_scatter_block(from.at, native, count, MPI_INT, MPI_MAX, comm);
    good = good && request && dcp_run_wait(&request) == MPI_SUCCESS &&
           memcmp(ours, native, (size_t)count * sizeof *ours) == 0;
    free(from.at);
    free(ours);
    free(native);
    return good;
}

static bool all_reduce_scatters(MPI_Comm comm) {
    const int counts[] = {0, 1, 7};
    bool good = true;
    for (int i = 0; i < 3; i++)
        for (int in_place = 0; in_place < 2; in_place++)
            good = reduce_scatter(counts[i], in_place, comm) && good;
    return large_reduce_scatter(comm) && good;
}

static bool reduce_scatters(MPI_Comm app, void *context) {
    (void)context;
    return on_several(app, all_reduce_scatters);
}

START_TEST(reduce_and_scatter) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, reduce_scatters, NULL),
                   "reduce_scatters");
}
END_TEST

/* --- Allreduces by the table's dcp --- */

/* Reduces COUNT ints with OP, and checks whether DCPs served the call. */
static bool allreduce(int count, MPI_Op op, bool in_place, bool served, MPI_Comm comm) {
    ints from = {.stride = 1, .count = count, .at = calloc((size_t)count + 1, sizeof *from.at)};
    int *ours = calloc((size_t)count + 1, sizeof *ours),
        *native = calloc((size_t)count + 1, sizeof *native);
    bring(&from, count, app_rank(comm));
    memcpy(ours, from.at, (size_t)count * sizeof *ours);
    PMPI_Allreduce(from.at, native, count, MPI_INT, op, comm);
    uint32_t before = coll_client_comm_of(comm)->series.sequence;
    int code = COLL_Allreduce(in_place ? MPI_IN_PLACE : from.at, ours, count, MPI_INT, op, comm);
    bool good = code == MPI_SUCCESS &&
                coll_client_comm_of(comm)->series.sequence == before + (served ? 1 : 0) &&
                memcmp(ours, native, (size_t)count * sizeof *ours) == 0;
    if (!good)
        fprintf(stderr, "allreduce of %d among %d is wrong\n", count, app_ranks(comm));
    free(from.at);
    free(ours);
    free(native);
    return good;
}

static void add_ints(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

/* Calls that DCPs do not serve run in another way, with the same functions. */
static bool all_allreduces(MPI_Comm comm) {
    const int most = (int)(coll_the_job.limit / sizeof(int));
    MPI_Op own;
    MPI_Op_create(add_ints, 1, &own);
    bool good = COLL_Set(comm, "allreduce", "dcp") == MPI_SUCCESS;
    for (int in_place = 0; in_place < 2; in_place++) {
        good = allreduce(1, MPI_SUM, in_place, true, comm) && good;
        good = allreduce(1, own, in_place, false, comm) && good;
        good = allreduce(1, MPI_MAX, in_place, true, comm) && good;
        good = allreduce(most, MPI_SUM, in_place, true, comm) && good;
        good = allreduce(most + 1, MPI_SUM, in_place, false, comm) && good;
        good = allreduce(0, MPI_SUM, in_place, false, comm) && good;
    }
    MPI_Op_free(&own);
    return COLL_Set(comm, "allreduce", "auto") == MPI_SUCCESS && good;
}

/* On a communicator that is not registered, DCPs serve nothing. */
static bool allreduces(MPI_Comm app, void *context) {
    (void)context;
    MPI_Comm unknown;
    int sum = 1;
    MPI_Comm_dup(app, &unknown);
    bool good = COLL_Set(unknown, "allreduce", "dcp") == MPI_SUCCESS &&
                COLL_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, unknown) == MPI_SUCCESS &&
                sum == app_ranks(app);
    MPI_Comm_free(&unknown);
    return (app_ranks(app) == 1 || on_several(app, all_allreduces)) && good;
}

START_TEST(in_the_table) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, allreduces, NULL),
                   "allreduces by the table");
}
END_TEST

/* --- What they have in common --- */

/*
 * Starts more operations of all kinds than there are slots and large slots, and completes them from
 * the last one.
 */
static bool many_in_flight(MPI_Comm app, void *context) {
    (void)context;
    enum { MANY = 120, MOST_RANKS = 16, LONG = 400 };
    static coll_dcp_request *requests[MANY];
    static int from[MOST_RANKS * LONG], to[MANY][MOST_RANKS * LONG];
    int rank = app_rank(app), ranks = app_ranks(app);
    bool good = true;
    for (int i = 0; i < MANY; i++) {
        int root = i % ranks, code;
        for (int j = 0; j < ranks * LONG; j++)
            from[j] = i;
        to[i][0] = rank == root ? i : -1;
        if (i % 4 == 0)
            code = coll_dcp_post_bcast(to[i], 1, MPI_INT, root, app, &requests[i]);
        else if (i % 4 == 1)
            code = coll_dcp_post(from, to[i], 1, MPI_INT, MPI_MIN, app, &requests[i]);
        else if (i % 4 == 2)
            code = coll_dcp_post_alltoall(from, LONG, MPI_INT, to[i], LONG, MPI_INT, app,
                                          &requests[i]);
        else
            code = coll_dcp_post_reduce_scatter(from, to[i], LONG, MPI_INT, MPI_MAX, app,
                                                &requests[i]);
        good = code == MPI_SUCCESS && good;
    }
    for (int i = MANY - 1; i >= 0; i--)
        good = dcp_run_wait(&requests[i]) == MPI_SUCCESS && to[i][0] == i && good;
    return good;
}

START_TEST(in_flight) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, many_in_flight, NULL),
                   "many in flight");
}
END_TEST

/*
 * The last rank calls another operation than the others. All ranks get the error, and the next call
 * works.
 */
static bool mismatches(MPI_Comm app, void *context) {
    (void)context;
    enum { MOST_RANKS = 16 };
    int rank = app_rank(app), ranks = app_ranks(app);
    int values[2 * MOST_RANKS] = {0}, sums[2 * MOST_RANKS];
    bool odd = rank == ranks - 1, good = true;
    coll_dcp_request *request;
    coll_dcp_post_bcast(values, odd ? 2 : 1, MPI_INT, 0, app, &request);
    good = dcp_run_is_error(dcp_run_wait(&request), "8 bytes from root 0", "") && good;
    coll_dcp_post_bcast(values, 1, MPI_INT, odd, app, &request);
    good = dcp_run_is_error(dcp_run_wait(&request), "4 bytes from root 1", "") && good;
    if (odd)
        coll_dcp_post(values, sums, 1, MPI_INT, MPI_SUM, app, &request);
    else
        coll_dcp_post_bcast(values, 1, MPI_INT, 0, app, &request);
    good = dcp_run_is_error(dcp_run_wait(&request), "calls allreduce", "") && good;
    int count = odd ? 2 : 1;
    coll_dcp_post_alltoall(values, count, MPI_INT, sums, count, MPI_INT, app, &request);
    good = dcp_run_is_error(dcp_run_wait(&request), "brings 8 bytes for each rank", "") && good;
    coll_dcp_post_reduce_scatter(values, sums, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, app, &request);
    good = dcp_run_is_error(dcp_run_wait(&request), "1 of MPI_INT to MPI_MAX", "") && good;
    return bcast(1, 0, app) && alltoall(1, false, app) && good;
}

START_TEST(mismatched_calls) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, mismatches, NULL), "mismatches");
}
END_TEST

/*
 * The blocks of an alltoall, and the report of a failure, reach four DCPs in one to three messages.
 */
START_TEST(by_digits) {
    int ranks = app_ranks(MPI_COMM_WORLD) / 2 + 1;
    bool good = true;
    for (dcp_run_digits = 1; dcp_run_digits <= 3; dcp_run_digits++) {
        good = dcp_run_everywhere(ranks, 4, alltoalls, NULL) && good;
        good = dcp_run_everywhere(ranks, 4, mismatches, NULL) && good;
    }
    dcp_run_digits = 0;
    harness_assert(good, "alltoalls by digits");
}
END_TEST

/* With COLL_TIMEOUT the last rank is late, and all ranks get the error. */
static bool late_rank(MPI_Comm app, void *context) {
    (void)context;
    int rank = app_rank(app), ranks = app_ranks(app), value = rank;
    bool good = true;
    coll_dcp_request *requests[2];
    for (int other = 0; rank == ranks - 1 && other < ranks - 1; other++)
        PMPI_Recv(NULL, 0, MPI_INT, other, 0, app, MPI_STATUS_IGNORE);
    coll_dcp_post_bcast(&value, 1, MPI_INT, 0, app, &requests[0]);
    coll_dcp_post_alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, app, &requests[1]);
    for (int i = 0; i < 2; i++) {
        char text[60];
        snprintf(text, sizeof text, "%s: rank %d not there", i ? "alltoall" : "bcast", ranks - 1);
        good = dcp_run_is_error(dcp_run_wait(&requests[i]), text, "") && good;
    }
    if (rank < ranks - 1)
        PMPI_Send(NULL, 0, MPI_INT, ranks - 1, 0, app);
    PMPI_Barrier(app);
    return bcast(1, ranks - 1, app) && alltoall(1, false, app) && good;
}

START_TEST(late) {
    setenv("COLL_TIMEOUT", "600", 1);
    dcp_run_timeout = 0.5;
    bool good = dcp_run_everywhere(dcp_run_applications(), 2, late_rank, NULL);
    unsetenv("COLL_TIMEOUT");
    harness_assert(good, "late rank");
}
END_TEST

/*
 * Completes REQUEST, which was posted with the result CODE. Returns false if DCPs did not serve it.
 */
static bool taken(int code, coll_dcp_request **request) {
    return code == MPI_SUCCESS && *request && dcp_run_wait(request) == MPI_SUCCESS;
}

static bool takes_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    coll_dcp_request *request;
    return taken(coll_dcp_post_bcast(buffer, count, type, root, comm, &request), &request);
}

/* Tests broadcasts that DCPs do not serve. */
static bool refused_bcasts(MPI_Comm app) {
    int ranks = app_ranks(app), value = 0;
    MPI_Count much = (MPI_Count)coll_the_job.limit + 1;
    return takes_bcast(&value, 1, MPI_INT, 0, app) && takes_bcast(NULL, 0, MPI_INT, 0, app) &&
           !takes_bcast(&value, much, MPI_BYTE, 0, app) &&
           !takes_bcast(&value, -1, MPI_INT, 0, app) && !takes_bcast(NULL, 1, MPI_INT, 0, app) &&
           !takes_bcast(MPI_IN_PLACE, 1, MPI_INT, 0, app) &&
           !takes_bcast(&value, 1, MPI_DATATYPE_NULL, 0, app) &&
           !takes_bcast(&value, 1, MPI_INT, ranks, app) &&
           !takes_bcast(&value, 1, MPI_INT, -1, app) &&
           !takes_bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
}

static bool takes_alltoall(const void *from, int sent, MPI_Datatype type, MPI_Count count,
                           MPI_Comm comm) {
    int to[64] = {0};
    coll_dcp_request *request;
    return taken(coll_dcp_post_alltoall(from, sent, type, to, count, MPI_INT, comm, &request),
                 &request);
}

static bool refused_alltoalls(MPI_Comm app) {
    int from[64] = {0};
    int most = most_ints(app);
    return takes_alltoall(from, 1, MPI_INT, 1, app) &&
           takes_alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, 1, app) &&
           takes_alltoall(from, 4, MPI_BYTE, 1, app) && !takes_alltoall(from, 2, MPI_INT, 1, app) &&
           !takes_alltoall(NULL, 1, MPI_INT, 1, app) &&
           !takes_alltoall(from, 1, MPI_DATATYPE_NULL, 1, app) &&
           !takes_alltoall(from, most + 1, MPI_INT, most + 1, app) &&
           !takes_alltoall(from, -1, MPI_INT, -1, app) &&
           !takes_alltoall(from, 1, MPI_INT, 1, MPI_COMM_SELF);
}

static bool refused(MPI_Comm app, void *context) {
    (void)context;
    return refused_bcasts(app) && refused_alltoalls(app) &&
           coll_dcp_takes_reduce_scatter(1, MPI_INT, MPI_SUM, app) &&
           !coll_dcp_takes_reduce_scatter(-1, MPI_INT, MPI_SUM, app) &&
           !coll_dcp_takes_reduce_scatter(1, MPI_DOUBLE, MPI_BAND, app) &&
           !coll_dcp_takes_reduce_scatter(1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

START_TEST(not_taken) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 1, refused, NULL),
                   "what isn't taken");
}
END_TEST

/* Returns whether CODE is of CLASS with a text that has PART. Otherwise prints it. */
static bool fails_with(int code, int class, const char *part) {
    bool good = harness_class(code) == class && strstr(harness_text(code), part);
    if (!good)
        fprintf(stderr, "error %d: %s\n", harness_class(code), harness_text(code));
    return good;
}

/*
 * The last rank fails with CLASS when it starts a broadcast: the others get its error, and the next
 * call works again.
 */
static bool fails_on_last(MPI_Datatype type, int class, MPI_Comm app) {
    int rank = app_rank(app), last = app_ranks(app) - 1, data[2] = {0}, sum = 0;
    const int one = 1;
    char who[40];
    coll_dcp_request *request;
    snprintf(who, sizeof who, "rank %d: ", last);
    int code = coll_dcp_post_bcast(data, 1, type, 0, app, &request);
    bool good = rank == last
                    ? !request && fails_with(code, class, "")
                    : code == MPI_SUCCESS && fails_with(dcp_run_wait(&request), class, who);
    if (rank == last)
        coll_request_open(COLL_JOB_TAG_PROMISED);
    return coll_dcp_post(&one, &sum, 1, MPI_INT, MPI_SUM, app, &request) == MPI_SUCCESS &&
           dcp_run_wait(&request) == MPI_SUCCESS && sum == last + 1 && good;
}

/* The last rank has a type that is not committed, and then no request. */
static bool one_rank_fails(MPI_Comm app, void *context) {
    (void)context;
    const bool fails = app_rank(app) == app_ranks(app) - 1;
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    if (!fails)
        MPI_Type_commit(&type);
    bool good = fails_on_last(type, MPI_ERR_TYPE, app);
    MPI_Type_commit(&type);
    if (fails)
        coll_request_open(0);
    good = fails_on_last(type, MPI_ERR_NO_MEM, app) && good;
    MPI_Type_free(&type);
    return good;
}

START_TEST(failing_post) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, one_rank_fails, NULL),
                   "a failing post");
}
END_TEST

/* Tests the functions of coll.h with little and with much data, with and without DCPs. */
static bool public_calls(MPI_Comm app, void *context) {
    (void)context;
    enum { MOST_RANKS = 16, MUCH = 20000 };
    static int from[MOST_RANKS * MUCH], to[MOST_RANKS * MUCH];
    int ranks = app_ranks(app), rank = app_rank(app);
    bool good = true;
    for (int count = 1; count <= MUCH; count += MUCH - 1) {
        DCP_Request request;
        to[0] = rank == ranks - 1 ? count : 0;
        good = DCP_IBcast(to, count, MPI_INT, ranks - 1, app, &request) == MPI_SUCCESS &&
               DCP_Wait(&request) == MPI_SUCCESS && to[0] == count && good;
        for (int i = 0; i < ranks; i++)
            from[i * count] = rank * ranks + i;
        good =
            DCP_IAlltoall(from, count, MPI_INT, to, count, MPI_INT, app, &request) == MPI_SUCCESS &&
            DCP_Wait(&request) == MPI_SUCCESS && good;
        for (int i = 0; i < ranks; i++)
            good = to[i * count] == i * ranks + rank && good;
        good = DCP_IReduce_scatter_block(from, to, count, MPI_INT, MPI_MAX, app, &request) ==
                   MPI_SUCCESS &&
               DCP_Wait(&request) == MPI_SUCCESS && to[0] == (ranks - 1) * ranks + rank && good;
    }
    return good;
}

START_TEST(api) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, public_calls, NULL),
                   "DCP_IBcast ...");
    harness_assert(public_calls(MPI_COMM_WORLD, NULL), "DCP_IBcast ... without DCPs");
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("dcp_calls");
    TCase *cases = tcase_create("dcp_calls");
    tcase_add_test(cases, broadcasts);
    tcase_add_test(cases, all_to_all);
    tcase_add_test(cases, reduce_and_scatter);
    tcase_add_test(cases, in_the_table);
    tcase_add_test(cases, in_flight);
    tcase_add_test(cases, mismatched_calls);
    tcase_add_test(cases, by_digits);
    tcase_add_test(cases, late);
    tcase_add_test(cases, not_taken);
    tcase_add_test(cases, failing_post);
    tcase_add_test(cases, api);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    setenv("COLL_DCP_LIMIT", "1K", 1); /* this gives the largest possible blocks */
    return harness_main(argc, argv, "3 9 free:3", suite);
}
