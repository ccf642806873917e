/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares allreduces on dedicated processors with the MPI library's own, for any number of DCPs.
 */
#include "config.h"

#include "app/agreement.h"
#include "cdcp/client_comm.h"
#include "cdcp/dcp.h"
#include "cdcp/job.h"
#include "cdcp/operands.h"
#include "cdcp/wire.h"
#include "coll.h"
#include "tests/support/dcp_run.h"
#include "tests/support/harness.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 8192 };

static bool allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm) {
    coll_dcp_request *request;
    return coll_dcp_post(from, to, count, type, op, comm, &request) == MPI_SUCCESS && request &&
           dcp_run_wait(&request) == MPI_SUCCESS && !request;
}

/* Returns whether all ranks have the same BYTES. */
static bool same_everywhere(const void *data, size_t bytes, MPI_Comm comm) {
    char *first = malloc(bytes + 1);
    memcpy(first, data, bytes);
    PMPI_Bcast(first, (int)bytes, MPI_BYTE, 0, comm);
    bool same = memcmp(first, data, bytes) == 0;
    free(first);
    return same;
}

/*
 * Returns the size of the numbers of a floating-point TYPE, whose sums depend on the order of
 * summation; 0 for other types.
 */
static size_t floating_bytes(MPI_Datatype type) {
    const struct {
        MPI_Datatype type;
        size_t bytes;
    } kinds[] = {
        {MPI_FLOAT, 4},
        {MPI_REAL, 4},
        {MPI_REAL4, 4},
        {MPI_C_FLOAT_COMPLEX, 4},
        {MPI_CXX_FLOAT_COMPLEX, 4},
        {MPI_COMPLEX, 4},
        {MPI_COMPLEX8, 4},
        {MPI_DOUBLE, 8},
        {MPI_DOUBLE_PRECISION, 8},
        {MPI_REAL8, 8},
        {MPI_C_DOUBLE_COMPLEX, 8},
        {MPI_CXX_DOUBLE_COMPLEX, 8},
        {MPI_DOUBLE_COMPLEX, 8},
        {MPI_COMPLEX16, 8},
        {MPI_LONG_DOUBLE, 16},
        {MPI_C_LONG_DOUBLE_COMPLEX, 16},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, 16},
        {MPI_REAL16, 16},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == type)
            return kinds[i].bytes;
    return 0;
}

static long double floating_at(const void *data, size_t bytes, size_t i) {
    if (bytes == 4)
        return ((const float *)data)[i];
    return bytes == 8 ? (long double)((const double *)data)[i] : ((const long double *)data)[i];
}

/* Fills DATA with values around 1, so that products and sums differ only by rounding. */
static void fill_floating(void *data, size_t size, size_t bytes, unsigned seed) {
    for (size_t i = 0; i < size / bytes; i++) {
        double value = 0.75 + (double)((seed + i * 7919) * 2654435761u % 1000) / 2000;
        if (bytes == 4)
            ((float *)data)[i] = (float)value;
        else if (bytes == 8)
            ((double *)data)[i] = value;
        else
            ((long double *)data)[i] = (long double)value;
    }
}

/* Fills pairs of a value and an index, with ties. Each kind of pair has its own members. */
#define FILL_PAIRS(kind)                                                                           \
    do {                                                                                           \
        struct {                                                                                   \
            kind value;                                                                            \
            int index;                                                                             \
        } *pairs = data;                                                                           \
        for (size_t i = 0; i < size / sizeof *pairs; i++) {                                        \
            pairs[i].value = (kind)((seed + i) * 2654435761u % 5);                                 \
            pairs[i].index = (int)seed;                                                            \
        }                                                                                          \
    } while (0)

static void fill(void *data, size_t size, MPI_Datatype type, unsigned seed) {
    size_t floating = floating_bytes(type);
    memset(data, 0, size);
    if (floating)
        fill_floating(data, size, floating, seed);
    else if (type == MPI_FLOAT_INT)
        FILL_PAIRS(float);
    else if (type == MPI_DOUBLE_INT)
        FILL_PAIRS(double);
    else if (type == MPI_LONG_DOUBLE_INT)
        FILL_PAIRS(long double);
    else if (type == MPI_2REAL)
        fill_floating(data, size, 4, seed);
    else if (type == MPI_2DOUBLE_PRECISION)
        fill_floating(data, size, 8, seed);
    else if (type == MPI_C_BOOL || type == MPI_CXX_BOOL)
        for (size_t i = 0; i < size; i++)
            ((unsigned char *)data)[i] = (seed + i) * 2654435761u % 3 > 0;
    else
        for (size_t i = 0; i < size; i++)
            ((unsigned char *)data)[i] = (unsigned char)((seed + i) * 2654435761u >> 24);
}

/* Returns whether all data are equal, except for the gaps of pairs. */
static bool same_data(const void *a, const void *b, int count, MPI_Datatype type) {
    static char packed[2][MOST_BYTES];
    int length[2] = {0, 0};
    PMPI_Pack(a, count, type, packed[0], MOST_BYTES, &length[0], MPI_COMM_SELF);
    PMPI_Pack(b, count, type, packed[1], MOST_BYTES, &length[1], MPI_COMM_SELF);
    return memcmp(packed[0], packed[1], (size_t)length[0]) == 0;
}

/*
 * Returns whether results are bitwise equal, or differ only by rounding for floating-point sums and
 * products.
 */
static bool agrees(const void *ours, const void *native, int count, MPI_Datatype type, MPI_Op op,
                   int ranks) {
    size_t size = (size_t)count * coll_operands_extent(coll_operands_code(type, op));
    size_t floating = floating_bytes(type);
    if (!floating || (op != MPI_SUM && op != MPI_PROD))
        return same_data(ours, native, count, type);
    double rounding = floating == 4 ? 1.2e-7 : 2.3e-16;
    for (size_t i = 0; i < size / floating; i++) {
        long double a = floating_at(ours, floating, i), b = floating_at(native, floating, i);
        long double scale = fabsl(b) > ranks ? fabsl(b) : ranks;
        if (!(fabsl(a - b) <= scale * powl(1.7L, ranks) * rounding))
            return false;
    }
    return true;
}

static bool one_operand_pair(MPI_Comm app, MPI_Datatype type, MPI_Op op, int count) {
    static char from[MOST_BYTES], ours[MOST_BYTES], native[MOST_BYTES];
    size_t size = (size_t)count * coll_operands_extent(coll_operands_code(type, op));
    int rank = app_rank(app);
    fill(from, size, type, (unsigned)(rank * 31 + count));
    memset(ours, 0, size);
    bool in_place = count % 2;
    if (in_place)
        memcpy(ours, from, size);
    bool good = allreduce(in_place ? MPI_IN_PLACE : from, ours, count, type, op, app);
    PMPI_Allreduce(from, native, count, type, op, app);
    good = agrees(ours, native, count, type, op, app_ranks(app)) && good;
    good = same_everywhere(ours, size, app) && good;
    if (!good) {
        int code = coll_operands_code(type, op);
        fprintf(stderr, "rank %d: %s of %d %s is wrong\n", rank, coll_operands_op_name(code), count,
                coll_operands_type_name(code));
    }
    return good;
}

/* Every predefined type and operation of MPI, and the optional ones that the library has. */
static const MPI_Datatype types[] = {
    MPI_DOUBLE,
    MPI_INT,
    MPI_FLOAT,
    MPI_LONG,
    MPI_DOUBLE_PRECISION,
    MPI_INTEGER,
    MPI_REAL,
    MPI_LOGICAL,
    MPI_COMPLEX,
    MPI_DOUBLE_COMPLEX,
    MPI_UNSIGNED,
    MPI_UNSIGNED_LONG,
    MPI_LONG_LONG,
    MPI_UNSIGNED_LONG_LONG,
    MPI_SIGNED_CHAR,
    MPI_UNSIGNED_CHAR,
    MPI_SHORT,
    MPI_UNSIGNED_SHORT,
    MPI_INT8_T,
    MPI_INT16_T,
    MPI_INT32_T,
    MPI_INT64_T,
    MPI_UINT8_T,
    MPI_UINT16_T,
    MPI_UINT32_T,
    MPI_UINT64_T,
    MPI_AINT,
    MPI_OFFSET,
    MPI_COUNT,
    MPI_BYTE,
    MPI_C_BOOL,
    MPI_CXX_BOOL,
    MPI_LONG_DOUBLE,
    MPI_C_FLOAT_COMPLEX,
    MPI_C_DOUBLE_COMPLEX,
    MPI_C_LONG_DOUBLE_COMPLEX,
    MPI_CXX_FLOAT_COMPLEX,
    MPI_CXX_DOUBLE_COMPLEX,
    MPI_CXX_LONG_DOUBLE_COMPLEX,
    MPI_DOUBLE_INT,
    MPI_FLOAT_INT,
    MPI_2INT,
    MPI_LONG_INT,
    MPI_SHORT_INT,
    MPI_LONG_DOUBLE_INT,
    MPI_2REAL,
    MPI_2DOUBLE_PRECISION,
    MPI_2INTEGER,
#ifdef MPI_INTEGER1
    MPI_INTEGER1,
#endif
#ifdef MPI_INTEGER2
    MPI_INTEGER2,
#endif
#ifdef MPI_INTEGER4
    MPI_INTEGER4,
#endif
#ifdef MPI_INTEGER8
    MPI_INTEGER8,
#endif
#ifdef MPI_REAL4
    MPI_REAL4,
#endif
#ifdef MPI_REAL8
    MPI_REAL8,
#endif
#ifdef MPI_REAL16
    MPI_REAL16,
#endif
#ifdef MPI_COMPLEX8
    MPI_COMPLEX8,
#endif
#ifdef MPI_COMPLEX16
    MPI_COMPLEX16,
#endif
};
static const MPI_Op ops[] = {MPI_MAX,  MPI_MIN,  MPI_SUM, MPI_PROD, MPI_LAND,   MPI_LOR,
                             MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};

/* In some libraries Fortran's real of 16 bytes differs from C's long double. */
static bool is_known(MPI_Datatype type) {
    if (floating_bytes(type) != 16)
        return true;
    long double ones[2] = {1, 1}, sum[2] = {1, 1};
    PMPI_Reduce_local(ones, sum, 1, type, MPI_SUM);
    return sum[0] == 2;
}

static bool all_operands(MPI_Comm app, void *context) {
    (void)context;
    bool good = true;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            if (coll_operands_code(types[t], ops[o]) >= 0 && is_known(types[t]))
                for (int count = 0; count <= 6; count = 2 * count + 1)
                    good = one_operand_pair(app, types[t], ops[o], count) && good;
    return good;
}

START_TEST(operands) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, all_operands, NULL),
                   "every operation on every type");
}
END_TEST

static bool all_sizes(MPI_Comm app, void *context) {
    (void)context;
    bool good = true;
    for (int count = 1; dcp_run_takes(count, MPI_INT, MPI_SUM, app); count *= 2)
        good = one_operand_pair(app, MPI_INT, MPI_SUM, count) && good;
    return good && dcp_run_takes(256, MPI_INT, MPI_SUM, app) &&
           !dcp_run_takes(MOST_BYTES, MPI_INT, MPI_SUM, app);
}

START_TEST(sizes) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, all_sizes, NULL), "all sizes");
}
END_TEST

/* Returns values whose sum depends on the order of summation. */
static double uneven(int rank, void *context) {
    int seed = *(int *)context;
    return pow(-1.0, rank) * (1.0 + rank) * pow(10.0, (rank * 7 + seed) % 17);
}

static bool sums_along_tree(MPI_Comm app, void *context) {
    int *seed = context;
    bool good = true;
    for (*seed = 0; *seed < 20; ++*seed) {
        double value = uneven(app_rank(app), seed), sum = 0;
        double expected = dcp_tree_sum(app_ranks(app), uneven, seed);
        good = allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, app) &&
               memcmp(&sum, &expected, sizeof sum) == 0 && good;
    }
    return good;
}

START_TEST(same_bits_for_any_number_of_dcps) {
    int seed = 0;
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 4, sums_along_tree, &seed),
                   "fixed tree");
}
END_TEST

/*
 * Starts more operations than there are slots, and completes them from the last one; half of them
 * are tested until they are complete.
 */
static bool many_in_flight(MPI_Comm app, void *context) {
    (void)context;
    enum { MANY = 150 };
    static coll_dcp_request *requests[MANY];
    static int64_t from[MANY], to[MANY];
    int rank = app_rank(app), ranks = app_ranks(app);
    bool good = true;
    for (int i = 0; i < MANY; i++) {
        from[i] = (int64_t)(rank + 1) * i;
        good = coll_dcp_post(&from[i], &to[i], 1, MPI_INT64_T, MPI_SUM, app, &requests[i]) ==
                   MPI_SUCCESS &&
               coll_dcp_owns(requests[i]) && !coll_dcp_owns(&from[i]) && good;
        from[i] = -1; /* the input has been read already */
    }
    for (int i = MANY - 1; i >= 0; i--) {
        while (i % 2 == 0 && !coll_dcp_ready(requests[i]))
            continue;
        good = dcp_run_wait(&requests[i]) == MPI_SUCCESS && good;
        good = !requests[i] && to[i] == (int64_t)ranks * (ranks + 1) / 2 * i && good;
    }
    return good;
}

START_TEST(in_flight) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, many_in_flight, NULL),
                   "many in flight");
}
END_TEST

static bool persistent_requests(MPI_Comm app, void *context) {
    (void)context;
    int value, sum = 0, ranks = app_ranks(app);
    coll_dcp_request *request;
    bool good = coll_dcp_prepare(&value, &sum, 1, MPI_INT, MPI_SUM, app, &request) == MPI_SUCCESS;
    good = good && !coll_dcp_active(request) && coll_dcp_ready(request) &&
           dcp_run_wait(&request) == MPI_SUCCESS && request;
    for (int i = 0; i < 50 && good; i++) {
        value = i;
        good = coll_dcp_begin(request) == MPI_SUCCESS && coll_dcp_active(request) &&
               dcp_run_wait(&request) == MPI_SUCCESS && request && !coll_dcp_active(request) &&
               sum == i * ranks;
    }
    return coll_dcp_release(&request) == MPI_SUCCESS && good && !request;
}

START_TEST(persistent) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, persistent_requests, NULL),
                   "persistent");
}
END_TEST

/* Odd ranks start the requests in another order than even ones, before and after COMM is freed. */
static bool starts_in_any_order(MPI_Comm app, void *context) {
    (void)context;
    enum { REQUESTS = 3 };
    int values[REQUESTS] = {1, 10, 100}, sums[REQUESTS], ranks = app_ranks(app);
    coll_dcp_request *requests[REQUESTS];
    MPI_Comm comm;
    if (ranks == 1)
        return true;
    MPI_Comm_dup(app, &comm);
    bool good = coll_dcp_register(comm) == MPI_SUCCESS;
    for (int i = 0; i < REQUESTS && good; i++)
        good = coll_dcp_prepare(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]) ==
                   MPI_SUCCESS &&
               requests[i];
    for (int round = 0; round < 4 && good; round++) {
        for (int i = 0; i < REQUESTS; i++) {
            const int at = (i + app_rank(app) % 2) % REQUESTS;
            good = coll_dcp_begin(requests[at]) == MPI_SUCCESS && good;
        }
        if (round == 1)
            MPI_Comm_free(&comm);
        for (int i = 0; i < REQUESTS; i++)
            good =
                dcp_run_wait(&requests[i]) == MPI_SUCCESS && sums[i] == ranks * values[i] && good;
    }
    for (int i = 0; i < REQUESTS && good; i++)
        good = coll_dcp_release(&requests[i]) == MPI_SUCCESS;
    return good;
}

START_TEST(persistent_in_any_order) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, starts_in_any_order, NULL),
                   "persistent in any order");
}
END_TEST

/*
 * Tests a split with ranks in reverse order, a duplicate, and requests that outlive their
 * communicator.
 */
static bool several_communicators(MPI_Comm app, void *context) {
    (void)context;
    int rank = app_rank(app);
    bool good = true;
    for (int round = 0; round < 5; round++) {
        MPI_Comm half, copy;
        MPI_Comm_split(app, rank % 2, -rank, &half);
        MPI_Comm_dup(app, &copy);
        int mine = rank + round, sums[3] = {0}, expected[3];
        MPI_Comm comms[] = {half, app, copy};
        coll_dcp_request *requests[3] = {NULL};
        for (int i = 0; i < 3; i++) {
            good = coll_dcp_register(comms[i]) == MPI_SUCCESS && good;
            PMPI_Allreduce(&mine, &expected[i], 1, MPI_INT, MPI_SUM, comms[i]);
            good = coll_dcp_post(&mine, &sums[i], 1, MPI_INT, MPI_SUM, comms[i], &requests[i]) ==
                       MPI_SUCCESS &&
                   (requests[i] || app_ranks(comms[i]) == 1) && good;
            if (!requests[i])
                sums[i] = expected[i];
        }
        MPI_Comm_free(&half);
        MPI_Comm_free(&copy);
        for (int i = 2; i >= 0; i--)
            good = (!requests[i] || dcp_run_wait(&requests[i]) == MPI_SUCCESS) &&
                   sums[i] == expected[i] && good;
    }
    return good;
}

START_TEST(communicators) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, several_communicators, NULL),
                   "several communicators");
}
END_TEST

/* The last rank starts while the others wait for its message, because starting is local. */
static bool starts_early(MPI_Comm comm, bool by_dcp) {
    int rank = app_rank(comm), ranks = app_ranks(comm), one = 1, sum = 0;
    DCP_Request request;
    if (rank != ranks - 1)
        PMPI_Recv(&one, 1, MPI_INT, ranks - 1, 0, comm, MPI_STATUS_IGNORE);
    bool good = DCP_IAllreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request) == MPI_SUCCESS &&
                coll_dcp_owns(request) == by_dcp;
    if (rank == ranks - 1)
        for (int other = 0; other < ranks - 1; other++)
            PMPI_Send(&one, 1, MPI_INT, other, 0, comm);
    return DCP_Wait(&request) == MPI_SUCCESS && sum == ranks && good;
}

/* DCPs serve registered communicators, except those of one rank. */
static bool registration(MPI_Comm app, void *context) {
    (void)context;
    MPI_Comm copy;
    MPI_Comm_dup(app, &copy);
    bool good = coll_dcp_knows(app) && !coll_dcp_knows(copy) && starts_early(copy, false);
    good = coll_dcp_register(copy) == MPI_SUCCESS && coll_dcp_knows(copy) && good;
    good = starts_early(copy, app_ranks(app) > 1) && good;
    MPI_Comm_free(&copy);
    return coll_dcp_register(MPI_COMM_NULL) == MPI_SUCCESS &&
           coll_dcp_register(MPI_COMM_SELF) == MPI_SUCCESS &&
           !dcp_run_takes(1, MPI_INT, MPI_SUM, MPI_COMM_SELF) && good;
}

START_TEST(registered) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, registration, NULL),
                   "registration");
}
END_TEST

/*
 * The pretended highest tag of the MPI library, or 0 for the real one; and the highest tag
 * received.
 */
static int highest_tag, highest_seen;

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *there) {
    static int (*below)(MPI_Comm, int, void *, int *);
    if (!below)
        *(void **)&below = dlsym(RTLD_NEXT, "PMPI_Comm_get_attr");
    if (key != MPI_TAG_UB || !highest_tag)
        return below(comm, key, value, there);
    *(int **)value = &highest_tag;
    *there = true;
    return MPI_SUCCESS;
}

int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Request *request) {
    static int (*below)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (!below)
        *(void **)&below = dlsym(RTLD_NEXT, "PMPI_Irecv");
    highest_seen = tag > highest_seen ? tag : highest_seen;
    return below(buffer, count, type, source, tag, comm, request);
}

/* Delays messages between DCPs: items by as much times the rank, and answers, in microseconds. */
static useconds_t items_delay, answers_delay;

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request) {
    static int (*below)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (!below)
        *(void **)&below = dlsym(RTLD_NEXT, "PMPI_Isend");
    const coll_wire_header *header = buffer;
    if (answers_delay && comm == coll_the_job.wire && tag == COLL_JOB_TAG_TO_DCP) {
        if (header->kind == COLL_WIRE_ITEMS)
            usleep(items_delay * (useconds_t)coll_the_job.rank);
        else if (header->kind == COLL_WIRE_ANSWER)
            usleep(answers_delay);
    }
    return below(buffer, count, type, to, tag, comm, request);
}

/* Whether complete messages fail. */
static bool failing_messages;

int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    static int (*below)(int, MPI_Request[], int *, MPI_Status[]);
    if (!below)
        *(void **)&below = dlsym(RTLD_NEXT, "PMPI_Testall");
    int code = below(count, requests, flag, statuses);
    return *flag && failing_messages ? MPI_ERR_INTERN : code;
}

/* The request of a call whose messages fail ends with MPI's error. */
static bool loses_messages(MPI_Comm app, void *context) {
    (void)context;
    const int one = 1;
    int sum = 0;
    coll_dcp_request *request;
    bool good = coll_dcp_post(&one, &sum, 1, MPI_INT, MPI_SUM, app, &request) == MPI_SUCCESS;
    failing_messages = true;
    while (!coll_dcp_ready(request))
        continue;
    failing_messages = false;
    good = coll_dcp_ready(request) && dcp_run_wait(&request) == MPI_ERR_INTERN && !request && good;
    return allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, app) && sum == app_ranks(app) && good;
}

START_TEST(failing_result) {
    harness_assert(dcp_run(MPI_COMM_WORLD, "1", "p2p", loses_messages, NULL), "a failing result");
}
END_TEST

/*
 * Starts as many operations as there are tags. One more is a clear error, and the others complete.
 * Then repeats that.
 */
static bool uses_up_tags(MPI_Comm app, void *context) {
    (void)context;
    enum { MOST = 64 };
    static coll_dcp_request *requests[MOST];
    static int sums[MOST];
    const int one = 1;
    bool good = true;
    for (int round = 0; round < 2; round++) {
        int posted = 0, code;
        do
            code = coll_dcp_post(&one, &sums[posted], 1, MPI_INT, MPI_SUM, app, &requests[posted]);
        while (code == MPI_SUCCESS && ++posted < MOST);
        good = posted > highest_tag / 2 && posted < highest_tag &&
               harness_class(code) == MPI_ERR_NO_MEM && strstr(harness_text(code), "under way") &&
               good;
        for (int i = posted - 1; i >= 0; i--)
            good = dcp_run_wait(&requests[i]) == MPI_SUCCESS && sums[i] == app_ranks(app) && good;
    }
    return good && highest_seen <= highest_tag;
}

START_TEST(few_tags) {
    highest_tag = 50;
    highest_seen = 0;
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, uses_up_tags, NULL), "few tags");
    highest_tag = 0;
}
END_TEST

/*
 * Wrong buffers are errors, whether DCPs or the MPI library would run the call. Open MPI raises
 * them on MPI_COMM_WORLD.
 */
static bool refuses_wrong_buffers(MPI_Comm app, int data[2]) {
    DCP_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int in_place = DCP_IAllreduce(data, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, app, &request);
    int aliased = DCP_IAllreduce(data, data, 2, MPI_INT, MPI_SUM, app, &request);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return in_place != MPI_SUCCESS && aliased != MPI_SUCCESS && request == DCP_REQUEST_NULL;
}

/* Tests calls that DCPs do not serve, and the functions of coll.h with and without DCPs. */
static bool public_calls(MPI_Comm app, void *context) {
    (void)context;
    int ranks = app_ranks(app), rank = app_rank(app), flag = 0;
    bool good = coll_dcp_comm(MPI_COMM_SELF) == MPI_COMM_SELF;
    static int from[4 * MOST_BYTES], to[4 * MOST_BYTES];
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    good = good && !dcp_run_takes(1, pair, MPI_SUM, app) &&
           !dcp_run_takes(1, MPI_DOUBLE, MPI_BAND, app) &&
           !dcp_run_takes(1, MPI_INT, MPI_SUM, MPI_COMM_SELF) &&
           !dcp_run_takes(-1, MPI_INT, MPI_SUM, app);
    MPI_Type_free(&pair);
    for (int count = 1; count <= 4 * MOST_BYTES && good; count *= 32) {
        DCP_Request request;
        from[0] = from[count - 1] = rank;
        good = DCP_IAllreduce(from, to, count, MPI_INT, MPI_SUM, app, &request) == MPI_SUCCESS;
        flag = 0;
        while (count > 32 && !flag && good)
            good = DCP_Test(&request, &flag) == MPI_SUCCESS;
        good = good && DCP_Wait(&request) == MPI_SUCCESS && request == DCP_REQUEST_NULL &&
               to[count - 1] == ranks * (ranks - 1) / 2;
    }
    return good && refuses_wrong_buffers(app, from);
}

START_TEST(api) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, public_calls, NULL),
                   "DCP_IAllreduce");
    harness_assert(public_calls(MPI_COMM_WORLD, NULL), "DCP_IAllreduce without DCPs");
}
END_TEST

/* The last rank calls another allreduce than the others. The next call works again. */
static bool mismatches(MPI_Comm app, void *context) {
    (void)context;
    int rank = app_rank(app), ranks = app_ranks(app);
    bool odd = rank == ranks - 1, good = true;
    double values[2] = {1, 1}, sums[2] = {0};
    const struct {
        int count;
        MPI_Datatype type;
        MPI_Op op;
        const char *text;
    } other[] = {{2, MPI_DOUBLE, MPI_SUM, "2 of MPI_DOUBLE"},
                 {1, MPI_FLOAT, MPI_SUM, "MPI_FLOAT"},
                 {1, MPI_DOUBLE, MPI_MAX, "MPI_MAX"}};
    for (int i = 0; i < 3 && ranks > 1; i++) {
        coll_dcp_request *request;
        good =
            coll_dcp_post(values, sums, odd ? other[i].count : 1, odd ? other[i].type : MPI_DOUBLE,
                          odd ? other[i].op : MPI_SUM, app, &request) == MPI_SUCCESS &&
            good;
        good =
            dcp_run_is_error(dcp_run_wait(&request), other[i].text, "1 of MPI_DOUBLE to MPI_SUM") &&
            good;
        good = allreduce(values, sums, 1, MPI_DOUBLE, MPI_SUM, app) && sums[0] == ranks && good;
    }
    return good;
}

START_TEST(mismatched_calls) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 3, mismatches, NULL), "mismatches");
}
END_TEST

/* With COLL_TIMEOUT the last rank is late, and all ranks get the error. */
static bool late_rank(MPI_Comm app, void *context) {
    (void)context;
    int rank = app_rank(app), ranks = app_ranks(app);
    int one = 1, sum = 0;
    bool good = true;
    coll_dcp_request *request;
    if (ranks == 1)
        return true;
    if (rank == ranks - 1) /* the last rank waits for the others' errors */
        for (int other = 0; other < ranks - 1; other++)
            PMPI_Recv(&one, 1, MPI_INT, other, 0, app, MPI_STATUS_IGNORE);
    good = coll_dcp_post(&one, &sum, 1, MPI_INT, MPI_SUM, app, &request) == MPI_SUCCESS;
    char who[40];
    snprintf(who, sizeof who, "rank %d not there", ranks - 1);
    good = dcp_run_is_error(dcp_run_wait(&request), who, "1.0 s") && good;
    if (rank < ranks - 1)
        PMPI_Send(&one, 1, MPI_INT, ranks - 1, 0, app);
    PMPI_Barrier(app);
    return allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, app) && sum == ranks && good;
}

START_TEST(late) {
    setenv("COLL_TIMEOUT", "600", 1);
    dcp_run_timeout = 1;
    bool good = dcp_run_everywhere(dcp_run_applications(), 3, late_rank, NULL);
    unsetenv("COLL_TIMEOUT");
    harness_assert(good, "late rank");
}
END_TEST

/*
 * The last ranks call at about the time of the others' time-out: all get the sum, or all get one
 * error.
 */
static bool just_in_time(MPI_Comm app, void *context) {
    (void)context;
    int rank = app_rank(app), ranks = app_ranks(app), sum;
    const int one = 1;
    bool good = true;
    for (int round = 0; round < 8; round++) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int there = 0;
        coll_dcp_request *request;
        PMPI_Barrier(app);
        double come = PMPI_Wtime() + 0.016 + 0.001 * round;
        while (rank > 0 && rank >= ranks - 2 && PMPI_Wtime() < come)
            PMPI_Iprobe(MPI_ANY_SOURCE, 0, app, &there, MPI_STATUS_IGNORE);
        good = coll_dcp_post(&one, &sum, 1, MPI_INT, MPI_SUM, app, &request) == MPI_SUCCESS && good;
        int code = dcp_run_wait(&request);
        strcpy(text, harness_text(code));
        good = (code != MPI_SUCCESS || sum == ranks) && good;
        good = same_everywhere(text, sizeof text, app) && good;
    }
    return good;
}

START_TEST(late_or_not) {
    setenv("COLL_TIMEOUT", "600", 1);
    dcp_run_timeout = 0.02;
    bool good = dcp_run_everywhere(dcp_run_applications(), 3, just_in_time, NULL);
    unsetenv("COLL_TIMEOUT");
    harness_assert(good, "one verdict");
}
END_TEST

static bool sums_up(MPI_Comm app, void *context) {
    (void)context;
    const int one = 1;
    int sum = 0;
    return allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, app) && sum == app_ranks(app);
}

/*
 * A DCP asks for late ranks, and the call completes before the answer comes. The answer must be
 * received before the job's communicator is freed. Open MPI takes it for a message on the next one,
 * which has the same number, and hangs.
 */
START_TEST(answers_after_the_call) {
    MPI_Comm half, next;
    MPI_Comm_split(MPI_COMM_WORLD, app_rank(MPI_COMM_WORLD) < 3, 0, &half);
    setenv("COLL_TIMEOUT", "600", 1);
    dcp_run_timeout = 0.02;
    items_delay = 30000;
    answers_delay = 100000;
    bool good = app_ranks(MPI_COMM_WORLD) < 5 || dcp_run(MPI_COMM_WORLD, "2", "p2p", sums_up, NULL);
    answers_delay = 0;
    unsetenv("COLL_TIMEOUT");
    MPI_Comm_dup(half, &next);
    MPI_Comm_free(&next);
    MPI_Comm_free(&half);
    harness_assert(good, "answers after the call");
}
END_TEST

/* No rank is missing at a DCP that has dropped the communicator. */
static bool asks_about_dropped(MPI_Comm app, void *context) {
    (void)context;
    MPI_Comm copy;
    if (app_ranks(app) == 1)
        return true;
    MPI_Comm_dup(app, &copy);
    bool good = coll_dcp_register(copy) == MPI_SUCCESS && sums_up(copy, NULL);
    const coll_wire_header question = {.comm = coll_client_comm_of(copy)->series.number,
                                       .kind = COLL_WIRE_QUESTION};
    coll_client_comm_free_by(PMPI_Comm_free, &copy);
    PMPI_Barrier(app);
    for (int i = 0; i < 100; i++) {
        struct {
            coll_wire_header header;
            int32_t named[COLL_WIRE_NAMED];
        } answer;
        good = coll_job_tell(&question, sizeof question) == MPI_SUCCESS &&
               PMPI_Recv(&answer, sizeof answer, MPI_BYTE, MPI_ANY_SOURCE, COLL_JOB_TAG_TO_DCP,
                         coll_the_job.wire, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
               answer.header.kind == COLL_WIRE_ANSWER && answer.header.count == 0 && good;
    }
    return good;
}

START_TEST(dropped_communicator) {
    harness_assert(dcp_run_everywhere(dcp_run_applications(), 2, asks_about_dropped, NULL),
                   "a dropped communicator");
}
END_TEST

static bool refuses(const char *spec, const char *part) {
    MPI_Comm app, world;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    int code = coll_dcp_start(spec, world, &app);
    MPI_Comm_free(&world);
    return code != MPI_SUCCESS && strstr(harness_text(code), part);
}

START_TEST(bad_settings) {
    harness_assert(refuses("2:4", "COLL_DCP=2:4") && refuses("1000", "more dedicated"), "COLL_DCP");
    setenv("COLL_DCP_TRANSPORT", "pigeon", 1);
    harness_assert(refuses("1", "COLL_DCP_TRANSPORT=pigeon"), "COLL_DCP_TRANSPORT");
    unsetenv("COLL_DCP_TRANSPORT");
    setenv("COLL_DCP_LIMIT", "1G", 1);
    harness_assert(refuses("1", "COLL_DCP_LIMIT=1G"), "COLL_DCP_LIMIT");
    unsetenv("COLL_DCP_LIMIT");
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("dcp");
    TCase *cases = tcase_create("dcp");
    tcase_add_test(cases, sizes);
    tcase_add_test(cases, operands);
    tcase_add_test(cases, same_bits_for_any_number_of_dcps);
    tcase_add_test(cases, in_flight);
    tcase_add_test(cases, persistent);
    tcase_add_test(cases, persistent_in_any_order);
    tcase_add_test(cases, communicators);
    tcase_add_test(cases, registered);
    tcase_add_test(cases, failing_result);
    tcase_add_test(cases, few_tags);
    tcase_add_test(cases, api);
    tcase_add_test(cases, mismatched_calls);
    tcase_add_test(cases, late);
    tcase_add_test(cases, late_or_not);
    tcase_add_test(cases, answers_after_the_call);
    tcase_add_test(cases, dropped_communicator);
    tcase_add_test(cases, bad_settings);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "2 3 5 8 13 free:3", suite);
}
