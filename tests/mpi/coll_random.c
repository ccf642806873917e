/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs random programs of COLL_ calls: broadcasts, gathers and aggregations with any algorithm and
 * settings, of data that every rank describes in its own way, on communicators that come and go, in
 * several threads, on ranks that differ in environment, alignment and earlier calls. All data must
 * arrive as with MPI's own collectives, no other memory may change, and nothing may be left behind.
 * COLL_TEST_PROGRAMS is the number of programs, COLL_TEST_SEED the first seed, COLL_TEST_STEPS the
 * length of a program. Each program makes its own communicators, so its seed is enough to run it
 * again.
 */
#include "config.h"

#include "coll.h"
#include "coll_tools.h"
#include "lib/tuning/state.h"
#include "tests/support/described.h"
#include "tests/support/harness.h"
#include "tests/support/open_requests.h"
#include "tests/support/ran.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 50, STEPS = 16, THREADS = 3, COMMS = 4, MOST_RANKS = DESCRIBED_MOST };

/* One of a program's communicators; null if this rank is not in it. */
typedef struct circle {
    MPI_Comm comm;
    int rank, ranks;
    bool used; /* a collective of libcoll has run on it */
} circle;

/* The state of one thread. */
typedef struct program {
    uint64_t seed;
    int thread, threads;
    int rank;              /* in MPI_COMM_WORLD */
    generator shared, own; /* random numbers: the same on all ranks, and this rank's own */
    circle circles[COMMS]; /* the first one is given to the program */
    circle alone;          /* has only this rank */
    int step;
    bool good;
} program;

static int number_from(const char *variable, int fallback) {
    const char *given = getenv(variable);
    return given ? atoi(given) : fallback;
}

/* --- Places: each program's ranks are on other nodes --- */

/* The numbers of nodes, racks and sites, and this rank's node. With 1 node nothing is pretended. */
static struct { int nodes, racks, sites, mine; } pretended;

static int node_of(int rank) {
    return (rank * 7 + 3) % pretended.nodes;
}

/* Returns the pretended host name, by which libcoll distinguishes nodes. */
int PMPI_Get_processor_name(char *name, int *length) {
    if (pretended.nodes < 2)
        return MPI_Get_processor_name(name, length);
    *length = sprintf(name, "n%d", pretended.mine);
    return MPI_SUCCESS;
}

/*
 * Draws nodes, racks and sites, and sets Slurm's variables for them. Returns this rank's number in
 * MPI_COMM_WORLD.
 */
static int pretend(generator *g) {
    char address[64];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pretended.nodes = below(g, 2) ? between(g, 2, 6) : 1;
    pretended.racks = between(g, 1, pretended.nodes);
    pretended.sites = below(g, 3) ? 1 : between(g, 1, pretended.racks);
    pretended.mine = node_of(rank);
    int rack = pretended.mine % pretended.racks, site = rack % pretended.sites;
    snprintf(address, sizeof address, "s%d.r%d.n%d", site, rack, pretended.mine);
    setenv("SLURM_TOPOLOGY_ADDR", address, 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node", 1);
    return rank;
}

/* --- Settings --- */

/* Returns a value within PARAM's bounds, often one of the bounds. */
static uint64_t draw_value(generator *g, const coll_param *param) {
    const uint64_t values[] = {
        param->lowest,  param->lowest + 1,           param->fallback,
        param->highest, (uint64_t)between(g, 1, 99), (uint64_t)1 << below(g, 20)};
    uint64_t value = values[below(g, sizeof values / sizeof *values)];
    if (value < param->lowest)
        return param->lowest;
    return value > param->highest ? param->highest : value;
}

/* Draws an algorithm of the operation's table with some of its parameters, or "auto". */
static void draw_spec(generator *g, int operation, char spec[COLL_SPEC_MAX]) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    int algorithms = 0;
    while (table[algorithms])
        algorithms++;
    int pick = below(g, algorithms + 1);
    strcpy(spec, "auto");
    if (pick == algorithms)
        return;
    coll_values values = coll_values_default(table[pick]);
    for (int i = 0; table[pick]->params[i].name; i++)
        if (below(g, 2))
            values.at[i] = draw_value(g, &table[pick]->params[i]);
    coll_spec_print(table[pick], &values, spec, COLL_SPEC_MAX);
}

/* Draws this rank's environment. The environment of a communicator's rank 0 applies. */
static void draw_environment(generator *g) {
    static const struct {
        const char *name, *values[4];
    } settings[] = {
        {"COLL_WAIT", {"auto", "polite", "spin", "block"}},
        {"COLL_TIMEOUT", {"0", "300", "300.5", "1e6"}},
        {"COLL_TRACE", {"0", "0", "0", "1"}},
        {"COLL_LEARN", {"0", "1", "all", "all"}},
    };
    char spec[COLL_SPEC_MAX];
    for (int i = 0; i < COLL_OPERATIONS; i++) {
        draw_spec(g, i, spec);
        if (below(g, 3) == 0)
            setenv(coll_operations[i].variable, spec, 1);
        else
            unsetenv(coll_operations[i].variable);
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *value = settings[i].values[below(g, 4)];
        if (below(g, 3) == 0)
            setenv(settings[i].name, value, 1);
        else
            unsetenv(settings[i].name);
    }
}

/* --- Verdicts --- */

/* Prints the algorithm that runs OPERATION on C, even if an error has left messages on C. */
static void print_spec(const circle *c, int operation, char spec[COLL_SPEC_MAX]) {
    coll_comm *state = NULL;
    strcpy(spec, "auto");
    coll_comm_get(c->comm, &state);
    if (state && coll_state_of(state)->specs[operation].algorithm)
        coll_spec_print(coll_state_of(state)->specs[operation].algorithm,
                        &coll_state_of(state)->specs[operation].values, spec, COLL_SPEC_MAX);
}

/* Returns the command that runs SEED's program again, on the same number of ranks. */
static const char *again(uint64_t seed) {
    static char command[160];
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(command, sizeof command,
             "COLL_TEST_RANKS=%d COLL_TEST_SEED=%" PRIu64
             " COLL_TEST_PROGRAMS=1 make check TESTS=tests/mpi/coll_random.mpi",
             ranks, seed);
    return command;
}

/*
 * Ends the test if a call went wrong. Messages may be left, for which other ranks would wait
 * forever.
 */
static void judge(const program *p, const circle *c, int operation, size_t bytes, int root,
                  int code, bool good) {
    char spec[COLL_SPEC_MAX];
    if (code == MPI_SUCCESS && good)
        return;
    print_spec(c, operation, spec);
    fprintf(
        stderr,
        "%s\nthread %d, step %d, rank %d: %s of %zu bytes, root %d, rank %d of %d, %d nodes, %d "
        "racks, %d sites, by %s: %s\n",
        again(p->seed), p->thread, p->step, p->rank, coll_operations[operation].name, bytes, root,
        c->rank, c->ranks, pretended.nodes, pretended.racks, pretended.sites, spec,
        code == MPI_SUCCESS ? "wrong data" : harness_text(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Ends the test if a named algorithm could run but another one ran. */
static void judge_choice(const program *p, const circle *c, const char *operation, size_t bytes,
                         int root) {
    if (ran_as_told(c->comm, operation, bytes, root))
        return;
    fprintf(stderr, "%s\nthread %d, step %d, rank %d: another %s ran than was asked for\n",
            again(p->seed), p->thread, p->step, p->rank, operation);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- Calls --- */

static unsigned char *bytes_for(size_t bytes) {
    unsigned char *made = malloc(bytes + 1);
    if (!made)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return made;
}

static void call_bcast(program *p, circle *c, generator *types, size_t bytes, int root) {
    bool is_root = c->rank == root;
    described data = describe_blocks(types, &p->own, 1, bytes, !is_root);
    unsigned char *expected = described_copy(&data), *payload = bytes_for(bytes);
    if (is_root)
        described_read(&data, 0, payload);
    MPI_Bcast(payload, (int)bytes, MPI_BYTE, root, c->comm);
    if (!is_root)
        described_write(&data, 0, payload, expected);
    int code = COLL_Bcast(data.buffer, data.counts[0], data.type, root, c->comm);
    judge(p, c, COLL_OPERATION_BCAST, bytes, root, code, described_is(&data, expected));
    judge_choice(p, c, "bcast", bytes, root);
    free(payload);
    described_free(&data);
}

/* Returns the expected content of ALL at the root after a gather of every rank's MINE. */
static unsigned char *gather_by_mpi(const circle *c, const described *mine, const described *all,
                                    const size_t bytes[], int root, bool in_place) {
    int counts[MOST_RANKS], places[MOST_RANKS], total = 0;
    for (int i = 0; i < c->ranks; i++) {
        counts[i] = (int)bytes[i];
        places[i] = total;
        total += counts[i];
    }
    unsigned char *sent = bytes_for(bytes[c->rank]), *taken = bytes_for((size_t)total);
    described_read(mine, 0, sent);
    MPI_Gatherv(sent, counts[c->rank], MPI_BYTE, taken, counts, places, MPI_BYTE, root, c->comm);
    unsigned char *expected = c->rank == root ? described_copy(all) : NULL;
    for (int i = 0; i < c->ranks && expected; i++)
        if (i != root || !in_place)
            described_write(all, i, taken + places[i], expected);
    free(taken);
    free(sent);
    return expected;
}

/* Gathers to ROOT. ALL is used only at the root; other ranks pass any arguments. */
static int gather(const circle *c, const described *mine, described *all, bool even, int root,
                  bool in_place) {
    const void *from = in_place ? MPI_IN_PLACE : mine->buffer;
    MPI_Count count = in_place ? -1 : mine->counts[0];
    MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : mine->type;
    bool is_root = c->rank == root;
    MPI_Datatype into = is_root ? all->type : MPI_DATATYPE_NULL;
    if (even)
        return COLL_Gather(from, count, type, is_root ? all->buffer : NULL,
                           is_root ? all->counts[0] : -1, into, root, c->comm);
    return COLL_Gatherv(from, count, type, is_root ? all->buffer : NULL,
                        is_root ? all->counts : NULL, is_root ? all->places : NULL, into, root,
                        c->comm);
}

/* Checks a gather. ALL is the root's description, and is freed. */
static void check_gather(program *p, circle *c, generator *types, described *all, bool even,
                         const size_t bytes[], int root) {
    bool in_place = c->rank == root && below(&p->own, 3) == 0;
    described mine = describe_blocks(types, &p->own, 1, bytes[c->rank], false);
    unsigned char *kept = described_copy(&mine);
    unsigned char *expected = gather_by_mpi(c, &mine, all, bytes, root, in_place);
    int code = gather(c, &mine, all, even, root, in_place);
    bool good = described_is(&mine, kept);
    if (expected)
        good = described_is(all, expected) && good;
    judge(p, c, COLL_OPERATION_GATHER, bytes[c->rank], root, code, good);
    judge_choice(p, c, "gather", even ? bytes[root] : COLL_BYTES_UNKNOWN, root);
    described_free(&mine);
    described_free(all);
}

static void call_gather(program *p, circle *c, generator *types, size_t bytes, int root) {
    size_t all_bytes[MOST_RANKS];
    for (int i = 0; i < c->ranks; i++)
        all_bytes[i] = bytes;
    int blocks = c->rank == root ? c->ranks : 1;
    described all = describe_blocks(types, &p->own, blocks, bytes, true);
    check_gather(p, c, types, &all, true, all_bytes, root);
}

/* Gathers blocks of very different sizes, some empty. ALIKE draws what all ranks must know. */
static void call_gatherv(program *p, circle *c, generator alike, generator *types, size_t bytes,
                         int root) {
    size_t all_bytes[MOST_RANKS];
    described all = describe_uneven(&alike, &p->own, c->ranks, bytes);
    for (int i = 0; i < c->ranks; i++)
        all_bytes[i] = described_bytes(&all, i);
    check_gather(p, c, types, &all, false, all_bytes, root);
}

/* --- Aggregation: keys 0 to KEYS - 1 times a factor, and values of some words --- */

enum { KEYS = 120 };
static const uint64_t factor = 0x9e3779b97f4a7c15u;

static void add_words(void *into, const void *from, size_t bytes, void *context) {
    (void)context;
    for (size_t i = 0; i < bytes / sizeof(uint32_t); i++)
        ((uint32_t *)into)[i] += ((const uint32_t *)from)[i];
}

/* Fills POOL and TABLE. A row of TABLE has the number of ranks with the key, and then its value. */
static void fill_pool(generator *g, COLL_Pool *pool, int keys, int words, uint32_t *table) {
    for (int i = 0; i < keys; i++) {
        uint32_t *row = table + (size_t)i * (size_t)(words + 1);
        if (below(g, 3))
            continue;
        describe_fill(g, (unsigned char *)(row + 1), (size_t)words * sizeof *row);
        row[0] = 1;
        COLL_Pool_add(pool, (uint64_t)i * factor, row + 1);
    }
}

static bool holds(const COLL_Pool *pool, int keys, int words, const uint32_t *table) {
    size_t held = 0;
    for (int i = 0; i < keys; i++) {
        const uint32_t *row = table + (size_t)i * (size_t)(words + 1);
        const void *value = COLL_Pool_find(pool, (uint64_t)i * factor);
        if (!value != !row[0] || (value && memcmp(value, row + 1, (size_t)words * sizeof *row)))
            return false;
        held += row[0] > 0;
    }
    return COLL_Pool_size(pool) == held;
}

static void call_aggregate(program *p, circle *c, int words, int keys, int root) {
    COLL_Pool *pool = NULL;
    COLL_Aggregate_stats stats;
    size_t entries = (size_t)keys * (size_t)(words + 1);
    uint32_t *mine = calloc(entries + 1, sizeof *mine), *sums = calloc(entries + 1, sizeof *sums);
    COLL_Pool_create((size_t)words * sizeof *mine, add_words, NULL, &pool);
    fill_pool(&p->own, pool, below(&p->own, 4) ? keys : 0, words, mine);
    MPI_Reduce(mine, sums, (int)entries, MPI_UINT32_T, MPI_SUM, root, c->comm);
    int code = COLL_Aggregate(pool, root, c->comm, below(&p->own, 2) ? &stats : NULL);
    bool good = c->rank == root ? holds(pool, keys, words, sums) : COLL_Pool_size(pool) == 0;
    judge(p, c, COLL_OPERATION_AGGREGATE, (size_t)words * sizeof *mine, root, code, good);
    COLL_Pool_free(&pool);
    free(sums);
    free(mine);
}

/* --- Communicators --- */

static void enter(circle *c, MPI_Comm comm) {
    *c = (circle){.comm = comm};
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &c->rank);
    MPI_Comm_size(comm, &c->ranks);
}

static bool is_left(MPI_Comm comm, int tag, int *found) {
    MPI_Status status;
    *found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, found, &status);
    *found = *found ? status.MPI_TAG : -1;
    return *found >= 0;
}

/*
 * Returns the tag of a message that is left on COMM, or -1. Agreements of autotuning end with COMM.
 */
static int find_left(MPI_Comm comm) {
    int found;
    if (!is_left(comm, MPI_ANY_TAG, &found) || found < COLL_TAG_LEARN || found >= COLL_TAG_WIDE)
        return found;
    for (int tag = 0; tag < COLL_TAG_STARTED + COLL_TAGS_STARTED; tag++)
        if ((tag < COLL_TAG_LEARN || tag >= COLL_TAG_WIDE) && is_left(comm, tag, &found))
            return found;
    return -1;
}

/* Frees C, after a check that no message is in flight between its ranks. */
static void leave(program *p, circle *c) {
    coll_comm *state;
    int found = -1;
    if (c->comm == MPI_COMM_NULL)
        return;
    MPI_Barrier(c->comm);
    if (c->used && coll_comm_get(c->comm, &state) == MPI_SUCCESS)
        found = find_left(state->private);
    if (found >= 0)
        fprintf(stderr,
                "seed %" PRIu64
                ", thread %d, step %d: rank %d of %d, a message of tag %d is left\n",
                p->seed, p->thread, p->step, c->rank, c->ranks, found);
    p->good = p->good && found < 0;
    MPI_Comm_free(&c->comm);
}

/* Duplicates PARENT with an info key that names an algorithm. */
static MPI_Comm dup_with_word(generator *alike, MPI_Comm parent) {
    char spec[COLL_SPEC_MAX];
    MPI_Comm made;
    MPI_Info info;
    int operation = below(alike, COLL_OPERATIONS);
    draw_spec(alike, operation, spec);
    MPI_Info_create(&info);
    MPI_Info_set(info, coll_operations[operation].info_key, spec);
    MPI_Comm_dup_with_info(parent, info, &made);
    MPI_Info_free(&info);
    return made;
}

/* Makes a communicator of some of PARENT's ranks, in the opposite order. */
static MPI_Comm make_by_group(generator *alike, const circle *parent) {
    MPI_Group all, some;
    MPI_Comm made;
    int ranks[MOST_RANKS], count = 0;
    for (int i = parent->ranks - 1; i >= 0; i--)
        if (below(alike, 3))
            ranks[count++] = i;
    MPI_Comm_group(parent->comm, &all);
    MPI_Group_incl(all, count, ranks, &some);
    MPI_Comm_create(parent->comm, some, &made);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return made;
}

/*
 * Makes a communicator from PARENT in one of several ways. ALIKE draws what all ranks of PARENT
 * must know.
 */
static MPI_Comm make_from(program *p, const circle *parent, int way, generator alike) {
    MPI_Comm made = MPI_COMM_NULL;
    generator mine = {draw(&alike) ^ (uint64_t)p->rank << 20};
    int color = below(&mine, 4), key = below(&mine, 100);
    if (parent->comm == MPI_COMM_NULL)
        return MPI_COMM_NULL;
    if (way == 0)
        MPI_Comm_dup(parent->comm, &made);
    else if (way == 1)
        made = dup_with_word(&alike, parent->comm);
    else if (way == 2)
        MPI_Comm_split(parent->comm, 0, -parent->rank, &made);
    else if (way == 3)
        made = make_by_group(&alike, parent);
    else
        MPI_Comm_split(parent->comm, color ? color : MPI_UNDEFINED, key, &made);
    return made;
}

/*
 * Makes a communicator. Open MPI 4.1 makes the communicators of a process's threads one after the
 * other, the lowest first. If they do not all have the same members, ranks may wait for each other
 * forever.
 */
static void make_comm(program *p) {
    bool free_hand = p->threads == 1;
    const circle *parent = &p->circles[free_hand ? below(&p->shared, COMMS) : 0];
    circle *child = &p->circles[1 + below(&p->shared, COMMS - 1)];
    int way = below(&p->shared, free_hand ? 7 : 3);
    MPI_Comm made = make_from(p, parent, way, (generator){draw(&p->shared)});
    leave(p, child);
    enter(child, made);
}

/* --- Steps --- */

/* Draws a size near a threshold, seldom a large one. */
static size_t draw_bytes(generator *g) {
    int pick = below(g, 200), shift = below(g, 18), some = below(g, 300), off = between(g, -1, 1);
    int large = below(g, 3 << 20);
    if (pick == 0)
        return (size_t)large;
    if (pick < 50)
        return (size_t)some;
    if (pick < 70)
        return (size_t)(some % 4);
    return (size_t)((1 << (pick == 70 ? 18 + shift % 4 : shift)) + off);
}

/* Limits BYTES if a parameter such as the segment size would cause very many messages. */
static size_t bounded(const circle *c, int operation, size_t bytes) {
    enum { MESSAGES = 300, LOOKS_LIKE_A_SIZE = 1 << 20 };
    coll_comm *state;
    if (coll_comm_get(c->comm, &state) != MPI_SUCCESS ||
        !coll_state_of(state)->specs[operation].algorithm)
        return bytes;
    const coll_spec *spec = &coll_state_of(state)->specs[operation];
    for (int i = 0; spec->algorithm->params[i].name; i++) {
        uint64_t value = spec->values.at[i];
        if (spec->algorithm->params[i].highest >= LOOKS_LIKE_A_SIZE && value > 0 &&
            bytes / MESSAGES > value)
            bytes = value * MESSAGES;
    }
    return bytes;
}

/* Makes a call that a rank may make alone between the others' calls. */
static void call_alone(program *p) {
    const circle *c = &p->circles[below(&p->own, COMMS)];
    int what = below(&p->own, 8), count;
    size_t bytes = (size_t)below(&p->own, 5000);
    COLL_Candidate candidate;
    COLL_Description description;
    if (what == 0)
        call_bcast(p, &p->alone, &p->own, bytes, 0);
    else if (what == 1)
        call_gather(p, &p->alone, &p->own, bytes, 0);
    else if (what == 2 && c->used)
        COLL_Explain("bcast", (MPI_Count)bytes, 0, c->comm, &candidate, 1, &count);
    else if (what == 3 && c->used)
        COLL_Describe(c->comm, &description);
}

static void set(program *p, circle *c, int operation, generator alike) {
    char spec[COLL_SPEC_MAX];
    draw_spec(&alike, operation, spec);
    int code = COLL_Set(c->comm, coll_operations[operation].name, spec);
    judge(p, c, operation, 0, 0, code, true);
}

/*
 * Runs a step. All ranks draw the same numbers, whether they are members of the communicator or
 * not.
 */
static void take_step(program *p) {
    int what = below(&p->shared, 100), operation = below(&p->shared, COLL_OPERATIONS);
    circle *c = &p->circles[below(&p->shared, COMMS)];
    size_t bytes = draw_bytes(&p->shared);
    int root = below(&p->shared, 1 << 20), times = below(&p->shared, 3) ? 1 : 3;
    generator alike = {draw(&p->shared)}, same = alike;
    bool same_types = below(&p->shared, 2);
    if (what < 15)
        make_comm(p);
    call_alone(p);
    if (what < 15 || c->comm == MPI_COMM_NULL)
        return;
    c->used = true;
    root %= c->ranks;
    if (what < 30)
        set(p, c, operation, alike);
    for (int i = 0; i < times; i++) {
        generator *types = same_types ? &same : &p->own;
        if (what >= 30 && what < 60)
            call_bcast(p, c, types, bounded(c, COLL_OPERATION_BCAST, bytes), root);
        else if (what >= 60 && what < 75)
            call_gather(p, c, types, bounded(c, COLL_OPERATION_GATHER, bytes), root);
        else if (what >= 75 && what < 90)
            call_gatherv(p, c, alike, types, bounded(c, COLL_OPERATION_GATHER, bytes), root);
        else if (what >= 90)
            call_aggregate(p, c, (int)(bytes % 1000) + 1, below(&alike, KEYS), root);
    }
}

static void *run_thread(void *context) {
    program *p = context;
    int steps = number_from("COLL_TEST_STEPS", STEPS);
    for (p->step = 0; p->step < steps; p->step++)
        take_step(p);
    for (int i = 0; i < COMMS; i++)
        leave(p, &p->circles[i]);
    leave(p, &p->alone);
    return NULL;
}

/* --- Programs --- */

static void open_program(program *p, uint64_t seed, int thread, int threads) {
    MPI_Comm comm;
    COLL_Description ignored;
    *p = (program){.seed = seed, .thread = thread, .threads = threads, .good = true};
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    p->shared.state = seed * THREADS + (uint64_t)thread;
    p->own.state = p->shared.state ^ (uint64_t)(p->rank + 1) << 40;
    for (int i = 0; i < COMMS; i++)
        p->circles[i].comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    enter(&p->circles[0], comm);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    enter(&p->alone, comm);
    p->alone.used = COLL_Describe(comm, &ignored) == MPI_SUCCESS;
}

/*
 * Runs a program in each of THREADS threads. A single program runs on the thread that called
 * MPI_Init.
 */
static bool run_program(uint64_t seed, int threads) {
    static program programs[THREADS];
    pthread_t others[THREADS];
    generator g = {seed};
    bool good = true;
    int number = harness_next_communicator(MPI_COMM_WORLD);
    int rank = pretend(&g);
    generator own = {seed ^ (uint64_t)(rank + 1) << 40};
    draw_environment(&own);
    threads = below(&g, 2) ? between(&g, 1, threads) : 1;
    for (int i = 0; i < threads; i++)
        open_program(&programs[i], seed, i, threads);
    for (int i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, run_thread, &programs[i]);
    run_thread(&programs[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    for (int i = 0; i < threads; i++)
        good = good && programs[i].good;
    if (open_requests() != 0 || harness_next_communicator(MPI_COMM_WORLD) != number) {
        fprintf(stderr, "seed %" PRIu64 ", rank %d: %d requests or a communicator are left\n", seed,
                rank, open_requests());
        good = false;
    }
    return harness_agree(good);
}

START_TEST(random_programs) {
    const char *given = getenv("COLL_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    int programs = number_from("COLL_TEST_PROGRAMS", PROGRAMS), rank, level;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Query_thread(&level);
    for (int i = 0; i < programs; i++, seed++) {
        if (rank == 0) /* is printed first, because the program may hang */
            printf("%s\n", again(seed));
        fflush(stdout);
        bool good = run_program(seed, level == MPI_THREAD_MULTIPLE ? THREADS : 1);
        ck_assert_msg(good, "%s", again(seed));
    }
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("coll_random");
    TCase *cases = tcase_create("coll_random");
    tcase_add_test(cases, random_programs);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main_threads(argc, argv, "1 2 3 5 8 free:2", suite);
}
