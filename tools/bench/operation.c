#include "config.h"

#include "tools/bench/operation.h"

#include <coll.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The byte at PLACE of the data of SEED. */
static unsigned char pattern(size_t place, unsigned seed) {
    return (unsigned char)((place * 2654435761u + seed * 40503u) >> 13);
}

static void fill_with(unsigned char *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = pattern(i, seed);
}

static bool is_filled_with(const unsigned char *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != pattern(i, seed))
            return false;
    return true;
}

/* What the buffer holds before something arrives there. */
enum { NOTHING = 0x5a };

/* --- bcast: the data itself --- */

static size_t bcast_bytes(size_t bytes, int ranks) {
    (void)ranks;
    return bytes;
}

static void fill_bcast(const operation_run *run) {
    if (run->rank == run->root)
        fill_with(run->buffer, run->bytes, run->seed);
    else
        memset(run->buffer, NOTHING, run->bytes);
}

static bool verify_bcast(const operation_run *run) {
    return is_filled_with(run->buffer, run->bytes, run->seed);
}

static int run_bcast(const contender *c, const operation_run *run) {
    return COLL_Bcast(run->buffer, (MPI_Count)run->bytes, MPI_BYTE, run->root, c->comm);
}

/* The end of a call of MPI's that may have been nonblocking. */
static int finish(int code, MPI_Request *request) {
    return code == MPI_SUCCESS && *request != MPI_REQUEST_NULL
               ? MPI_Wait(request, MPI_STATUS_IGNORE)
               : code;
}

static int run_mpi_bcast(const contender *c, const operation_run *run) {
    MPI_Request request = MPI_REQUEST_NULL;
    int bytes = (int)run->bytes;
    if (run->bytes > INT_MAX)
        return MPI_ERR_COUNT;
    int code = c->nonblocking
                   ? MPI_Ibcast(run->buffer, bytes, MPI_BYTE, run->root, c->comm, &request)
                   : MPI_Bcast(run->buffer, bytes, MPI_BYTE, run->root, c->comm);
    return finish(code, &request);
}

/* --- gather and gatherv: what all ranks bring in rank order, then what this rank brings --- */

/* What the bottleneck sees, the link to the root. */
static size_t gather_bytes(size_t bytes, int ranks) {
    return bytes * (size_t)(ranks - 1);
}

/* A rank brings at most all that comes to the root, and the root its own block. */
static size_t gather_room(size_t bytes, int ranks) {
    size_t others = ranks > 1 ? (size_t)ranks - 1 : 1, blocks = (size_t)ranks + others;
    return bytes > PTRDIFF_MAX / blocks ? PTRDIFF_MAX : bytes * blocks;
}

/* Uneven: one rank other than the root brings half of what comes to it, the others share the rest.
 */
static size_t uneven_amount(size_t bytes, int ranks, int root, int rank) {
    size_t all = gather_bytes(bytes, ranks);
    size_t share = ranks > 2 ? all / 2 / (size_t)(ranks - 2) : 0;
    if (rank == root)
        return bytes;
    return rank == (root + ranks / 2) % ranks ? all - share * (size_t)(ranks - 2) : share;
}

static size_t amount(const operation_run *run, int rank) {
    return run->uneven ? uneven_amount(run->bytes, run->ranks, run->root, rank) : run->bytes;
}

static unsigned char *mine_of(const operation_run *run) {
    return run->buffer + run->bytes * (size_t)run->ranks;
}

static void fill_gather(const operation_run *run) {
    memset(run->buffer, NOTHING, run->bytes * (size_t)run->ranks);
    fill_with(mine_of(run), amount(run, run->rank), run->seed + (unsigned)run->rank);
}

static bool verify_gather(const operation_run *run) {
    const unsigned char *block = run->buffer;
    for (int rank = 0; rank < run->ranks && run->rank == run->root; rank++) {
        size_t length = amount(run, rank);
        if (!is_filled_with(block, length, run->seed + (unsigned)rank))
            return false;
        block += length;
    }
    return true;
}

static int run_gather(const contender *c, const operation_run *run) {
    return COLL_Gather(mine_of(run), (MPI_Count)run->bytes, MPI_BYTE, run->buffer,
                       (MPI_Count)run->bytes, MPI_BYTE, run->root, c->comm);
}

static int run_mpi_gather(const contender *c, const operation_run *run) {
    MPI_Request request = MPI_REQUEST_NULL;
    int bytes = (int)run->bytes;
    if (run->bytes > INT_MAX)
        return MPI_ERR_COUNT;
    int code = c->nonblocking ? MPI_Igather(mine_of(run), bytes, MPI_BYTE, run->buffer, bytes,
                                            MPI_BYTE, run->root, c->comm, &request)
                              : MPI_Gather(mine_of(run), bytes, MPI_BYTE, run->buffer, bytes,
                                           MPI_BYTE, run->root, c->comm);
    return finish(code, &request);
}

static int run_gatherv(const contender *c, const operation_run *run) {
    size_t ranks = (size_t)run->ranks;
    MPI_Count *counts = malloc(ranks * sizeof *counts);
    MPI_Aint *places = malloc(ranks * sizeof *places), next = 0;
    int code = counts && places ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int rank = 0; rank < run->ranks && code == MPI_SUCCESS; rank++) {
        counts[rank] = (MPI_Count)amount(run, rank);
        places[rank] = next;
        next += (MPI_Aint)counts[rank];
    }
    if (code == MPI_SUCCESS)
        code = COLL_Gatherv(mine_of(run), counts[run->rank], MPI_BYTE, run->buffer, counts, places,
                            MPI_BYTE, run->root, c->comm);
    free(counts);
    free(places);
    return code;
}

static int run_mpi_gatherv(const contender *c, const operation_run *run) {
    int *counts = malloc(2 * (size_t)run->ranks * sizeof *counts), *places = counts + run->ranks;
    if (!counts || gather_room(run->bytes, run->ranks) > INT_MAX) {
        free(counts);
        return counts ? MPI_ERR_COUNT : MPI_ERR_NO_MEM;
    }
    for (int rank = 0, next = 0; rank < run->ranks; rank++) {
        counts[rank] = (int)amount(run, rank);
        places[rank] = next;
        next += counts[rank];
    }
    MPI_Request request = MPI_REQUEST_NULL;
    int mine = counts[run->rank];
    int code = c->nonblocking ? MPI_Igatherv(mine_of(run), mine, MPI_BYTE, run->buffer, counts,
                                             places, MPI_BYTE, run->root, c->comm, &request)
                              : MPI_Gatherv(mine_of(run), mine, MPI_BYTE, run->buffer, counts,
                                            places, MPI_BYTE, run->root, c->comm);
    code = finish(code, &request);
    free(counts);
    return code;
}

/* --- The table --- */

/* The numbers by which Open MPI 4.1's tuned component knows its algorithms are the places here. */
static const operation_forced ompi_bcasts[] = {
    {"linear", false},
    {"chain", true},
    {"pipeline", true},
    {"split_binary", true},
    {"binary", true},
    {"binomial", true},
    {"knomial", true},
    {"scatter_allgather", false},
    {"scatter_allgather_ring", false},
    {NULL, false},
};
static const operation_forced ompi_gathers[] = {
    {"linear", false}, {"binomial", false}, {"linear_sync", true}, {NULL, false}};
static const operation_forced none[] = {{NULL, false}};

/* Those that run where amounts differ. */
static const char *const uneven_specs[] = {"auto", "linear", "credit", NULL};

static const operation operations[] = {
    {.name = "bcast",
     .library = "bcast",
     .forced = ompi_bcasts,
     .room = bcast_bytes,
     .moved = bcast_bytes,
     .fill = fill_bcast,
     .verify = verify_bcast,
     .ours = run_bcast,
     .native = run_mpi_bcast,
     .nonblocking = "ibcast"},
    {.name = "gather",
     .library = "gather",
     .forced = ompi_gathers,
     .room = gather_room,
     .moved = gather_bytes,
     .fill = fill_gather,
     .verify = verify_gather,
     .ours = run_gather,
     .native = run_mpi_gather,
     .nonblocking = "igather",
     .wire_to_root = true},
    {.name = "gatherv",
     .library = "gather",
     .uneven = true,
     .specs = uneven_specs,
     .forced = none,
     .room = gather_room,
     .moved = gather_bytes,
     .fill = fill_gather,
     .verify = verify_gather,
     .ours = run_gatherv,
     .native = run_mpi_gatherv,
     .nonblocking = "igatherv",
     .wire_to_root = true},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

const char *operation_name(int index) {
    return index >= 0 && index < OPERATIONS ? operations[index].name : NULL;
}

const operation *operation_find(const char *name) {
    for (int i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

/* --- Rivals --- */

/* Components with collectives of their own, which Open MPI doesn't use unless it is asked. */
static const char *const components[] = {"han", "adapt"};

static const int segment_sizes[] = {0, 1 << 10, 4 << 10, 8 << 10, 32 << 10, 128 << 10};

void rivals_prepare(void) {
    /* Without a forced algorithm the rules stay those of the default. */
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
    /* Components of priority 0 are never there; at 1 they are, but nobody takes them unasked. */
    setenv("OMPI_MCA_coll_han_priority", "1", 0);
    setenv("OMPI_MCA_coll_adapt_priority", "1", 0);
}

#ifdef HAVE_MPI_T_INIT_THREAD
/* Writes an integer control variable of coll/tuned; false where it has none of that name. */
static bool write_variable(const char *collective, const char *suffix, int value) {
    int index, count;
    char name[100];
    snprintf(name, sizeof name, "coll_tuned_%s_algorithm%s", collective, suffix);
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool good = count == 1 && MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return good;
}

#else
static bool write_variable(const char *collective, const char *suffix, int value) {
    (void)collective, (void)suffix, (void)value;
    return false;
}
#endif

static bool force(const operation *op, int algorithm, int segment) {
    return write_variable(op->name, "", algorithm) &&
           write_variable(op->name, "_segmentsize", segment);
}

static int add_forced(contender_list *list, MPI_Comm comm, const operation *op,
                      const operation_forced *algorithm, int segment) {
    char name[CONTENDER_NAME], params[CONTENDER_PARAMS];
    snprintf(name, sizeof name, "ompi_%s", algorithm->name);
    snprintf(params, sizeof params, "segment=%d", segment);
    return contender_add(list, CONTENDER_RIVAL, name, algorithm->segmented ? params : "",
                         op->native, comm);
}

/* Adds OP on a communicator whose collectives are COMPONENT's, as far as it has them. */
static int add_component(contender_list *list, MPI_Comm comm, const operation *op,
                         const char *component) {
    char name[CONTENDER_NAME];
    snprintf(name, sizeof name, "ompi_%s", component);
    int code = contender_add(list, CONTENDER_RIVAL, name, "", op->native, comm);
    if (code != MPI_SUCCESS)
        return code;

    /* The preference is not passed on to duplicates: this one must be made with it. */
    MPI_Comm *own = &list->at[list->count - 1].comm;
    MPI_Info info;
    code = MPI_Comm_free(own);
    if (code == MPI_SUCCESS)
        code = MPI_Info_create(&info);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Info_set(info, "ompi_comm_coll_preference", component);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_dup_with_info(comm, info, own);
    MPI_Info_free(&info);
    return code;
}

int rivals_add(contender_list *list, const operation *op, MPI_Comm comm) {
    int code = MPI_SUCCESS;
#ifdef HAVE_MPI_T_INIT_THREAD
    int level, provided;
    code = MPI_Query_thread(&level); /* Open MPI takes what is asked for here as the process's */
    if (code == MPI_SUCCESS)
        code = MPI_T_init_thread(level, &provided);
    if (code != MPI_SUCCESS)
        return code;
#endif
    for (int number = 1; op->forced[number - 1].name; number++) {
        const operation_forced *algorithm = &op->forced[number - 1];
        size_t sizes = algorithm->segmented ? sizeof segment_sizes / sizeof *segment_sizes : 1;
        for (size_t s = 0; s < sizes && code == MPI_SUCCESS; s++)
            if (force(op, number, segment_sizes[s]))
                code = add_forced(list, comm, op, algorithm, segment_sizes[s]);
    }
    force(op, 0, 0);
#ifdef HAVE_MPI_T_INIT_THREAD
    MPI_T_finalize();
#endif
    for (size_t i = 0; i < sizeof components / sizeof *components && code == MPI_SUCCESS; i++)
        code = add_component(list, comm, op, components[i]);
    if (code == MPI_SUCCESS)
        code = contender_add(list, CONTENDER_RIVAL, op->nonblocking, "", op->native, comm);
    if (code == MPI_SUCCESS)
        list->at[list->count - 1].nonblocking = true;
    return code;
}
