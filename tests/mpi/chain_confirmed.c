/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests reliable broadcasts: without faults they equal MPI_Bcast. With damaged segments and late
 * ranks all ranks have the right bytes after restarts, or all return the same error.
 */
#include "config.h"

#include "coll.h"
#include "lib/base/comm.h"
#include "lib/bcast/reliable/chain_confirmed.h"
#include "tests/support/harness.h"
#include "tests/support/ran.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int world_rank, world_ranks;

/* Creates a communicator of all ranks that broadcasts with SPEC and a time-out of SECONDS. */
static MPI_Comm open_comm(const char *spec, double seconds) {
    MPI_Comm comm;
    coll_comm *state;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = COLL_Set(comm, "bcast", spec);
    harness_assert(code == MPI_SUCCESS, "%s", spec);
    ck_assert_int_eq(coll_comm_get(comm, &state), MPI_SUCCESS);
    state->wait.timeout = seconds;
    return comm;
}

static void fill(unsigned char *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
}

/* Broadcasts COUNT bytes. Returns whether all arrived and no other memory changed. */
static bool arrives(MPI_Comm comm, int root, size_t count) {
    static const unsigned char guard[] = {1, 2, 3, 4};
    unsigned char *bytes = malloc(count + sizeof guard), *expected = malloc(count + 1);
    unsigned seed = (unsigned)count + 7 * (unsigned)root;
    fill(expected, count, seed);
    fill(bytes, count, world_rank == root ? seed : ~seed);
    memcpy(bytes + count, guard, sizeof guard);
    int code = COLL_Bcast(bytes, (MPI_Count)count, MPI_BYTE, root, comm);
    bool good = code == MPI_SUCCESS && memcmp(bytes, expected, count) == 0 &&
                memcmp(bytes + count, guard, sizeof guard) == 0;
    free(bytes);
    free(expected);
    return good && ran_as_told(comm, "bcast", count, root);
}

static void rest(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    nanosleep(&time, NULL);
}

/* --- Damage --- */

/* The segments that are damaged, by which rank and in which epochs; and what the hook saw. */
static struct {
    int rank;
    uint64_t index;
    uint32_t epochs;  /* the number of epochs, from the first on */
    uint32_t reached; /* the latest epoch in which anything was sent */
    int damaged;
} plan;

static void damage(int rank, uint32_t epoch, uint64_t index, char *bytes, size_t length) {
    if (epoch > plan.reached)
        plan.reached = epoch;
    if (rank == plan.rank && index == plan.index && epoch < plan.epochs) {
        bytes[length / 2] ^= 4;
        plan.damaged++;
    }
}

static void plan_damage(int rank, uint64_t index, uint32_t epochs) {
    plan.rank = rank;
    plan.index = index;
    plan.epochs = epochs;
    plan.reached = 0;
    plan.damaged = 0;
    coll_chain_confirmed_tamper = damage;
}

/*
 * Returns how many segments were damaged on all ranks together. Sets *EPOCH to the latest epoch on
 * any rank.
 */
static int end_damage(int *epoch) {
    int mine[2] = {plan.damaged, (int)plan.reached}, damaged;
    coll_chain_confirmed_tamper = NULL;
    PMPI_Allreduce(&mine[0], &damaged, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(&mine[1], epoch, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return damaged;
}

/* --- Tests --- */

START_TEST(without_faults_all_arrives) {
    static const char *const specs[] = {
        "chain:confirm=1", "chain:chunk=64,window=1,confirm=1,retry=0",
        "chain:chunk=64,window=3,confirm=1", "chain:chunk=1,window=1024,confirm=1,retry=10"};
    static const size_t sizes[] = {0, 1, 63, 64, 65, 128, 129, 1000};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        MPI_Comm comm = open_comm(specs[s], s % 2 ? 60 : 0);
        plan_damage(-1, 0, 0);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int root = 0; root < world_ranks; root++)
                harness_assert(arrives(comm, root, sizes[i]), "%s: %zu bytes from %d", specs[s],
                               sizes[i], root);
        int epoch;
        ck_assert_int_eq(end_damage(&epoch), 0);
        ck_assert_int_eq(epoch, 0);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* There is nothing between the calls that would synchronise the ranks. */
START_TEST(broadcasts_follow_each_other_closely) {
    enum { TIMES = 300 };
    MPI_Comm comm = open_comm("chain:chunk=16,window=2,confirm=1", 60);
    int bad = 0;
    for (int i = 0; i < TIMES; i++)
        bad += !arrives(comm, i % world_ranks, (size_t)(i % 100));
    harness_assert(bad == 0, "%d of %d wrong", bad, TIMES);
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(megabytes_arrive) {
    static const char *const specs[] = {"chain:confirm=1", "chain:chunk=1M,window=2,confirm=1"};
    for (int s = 0; s < 2; s++) {
        MPI_Comm comm = open_comm(specs[s], 60);
        harness_assert(arrives(comm, world_ranks / 2, (5 << 20) + 3), "%s", specs[s]);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* Each rank receives every third int, from contiguous ints at the root. Gaps do not change. */
START_TEST(data_with_gaps_arrives) {
    enum { INTS = 1000, STRIDE = 3 };
    MPI_Comm comm = open_comm("chain:chunk=100,window=3,confirm=1", 0);
    MPI_Datatype gaps;
    MPI_Type_vector(INTS, 1, STRIDE, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    plan_damage(0, 5, 1);
    for (int root = 0; root < world_ranks; root++)
        for (int dense = 0; dense < 2; dense++) {
            bool here = dense == (world_rank == root);
            int values[INTS * STRIDE], wrong = 0;
            for (int i = 0; i < INTS * STRIDE; i++)
                values[i] = -1 - i;
            for (int i = 0; i < INTS && world_rank == root; i++)
                values[here ? i : i * STRIDE] = 1000 * root + i;
            int code = COLL_Bcast(values, here ? INTS : 1, here ? MPI_INT : gaps, root, comm);
            for (int i = 0; i < INTS * STRIDE; i++) {
                bool carries = here ? i < INTS : i % STRIDE == 0;
                int number = here ? i : i / STRIDE;
                wrong += values[i] != (carries ? 1000 * root + number : -1 - i);
            }
            harness_assert(code == MPI_SUCCESS && wrong == 0, "%d wrong from root %d", wrong, root);
        }
    int epoch;
    ck_assert_int_ge(end_damage(&epoch), 2);
    ck_assert_int_eq(epoch, 1);
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
}
END_TEST

/*
 * Tests damage by every sender, of several segments, in one or two attempts in a row; segments sent
 * by copy and by rendezvous.
 */
START_TEST(damage_is_mended) {
    static const struct {
        const char *spec;
        size_t bytes;
    } cases[] = {{"chain:chunk=64,window=3,confirm=1,retry=2", 64 * 20 + 1},
                 {"chain:chunk=64K,window=2,confirm=1,retry=2", (64 << 10) * 20 + 1}};
    static const uint64_t segments[] = {0, 3, 20};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        MPI_Comm comm = open_comm(cases[c].spec, c ? 60 : 0);
        for (int sender = 0; sender < world_ranks; sender++)
            for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
                int root = sender == world_ranks - 1 ? 1 : 0, epoch;
                uint32_t tries = 1 + (uint32_t)(i % 2);
                plan_damage(sender, segments[i], tries);
                bool good = arrives(comm, root, cases[c].bytes);
                int damaged = end_damage(&epoch);
                harness_assert(good, "rank %d damages segment %d", sender, (int)segments[i]);
                ck_assert_int_eq(epoch, damaged);
                /*
                 * The same rank can damage a second attempt only if it still sends, for example as
                 * the root.
                 */
                bool sends = sender == root || world_ranks > 2 || damaged > 0;
                ck_assert_msg(!sends || sender != root || damaged == (int)tries, "%d", damaged);
                harness_assert(arrives(comm, root, 1000), "afterwards");
            }
        MPI_Comm_free(&comm);
    }
}
END_TEST

START_TEST(damage_without_end_is_an_error_everywhere) {
    for (unsigned retry = 0; retry < 3; retry += 2) {
        MPI_Comm comm = open_comm(
            retry ? "chain:chunk=8,confirm=1,retry=2" : "chain:chunk=8,confirm=1,retry=0", 0);
        char bytes[64] = "";
        int epoch;
        plan_damage(0, 3, UINT32_MAX);
        int code = COLL_Bcast(bytes, sizeof bytes, MPI_BYTE, 0, comm);
        int damaged = end_damage(&epoch);
        const char *text = harness_text(code);
        harness_assert(
            harness_class(code) == MPI_ERR_OTHER && strstr(text, "segment 3 from rank 0 on ") &&
                strstr(text, " was corrupt at rank ") && !strstr(text, ", 3 tries; ") == !retry,
            "%s", text);
        ck_assert_int_eq(damaged, (int)retry + 1);
        ck_assert_int_eq(epoch, (int)retry);
        int again = COLL_Bcast(bytes, sizeof bytes, MPI_BYTE, 0, comm);
        harness_assert(again == code, "the communicator stays broken");
        MPI_Comm_free(&comm);
    }
}
END_TEST

enum { TOKEN = 77 };

static void wake(int rank) {
    MPI_Send(NULL, 0, MPI_BYTE, rank, TOKEN, MPI_COMM_WORLD);
}

/* Sleeps until COUNT ranks have woken this one. */
static void sleep_until_woken(int count) {
    for (int i = 0; i < count; i++)
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int sleeper; /* the rank to wake at the restart, or -1 */

static void wake_at_restart(int rank, uint32_t epoch, uint64_t index, char *bytes, size_t length) {
    (void)rank, (void)index, (void)bytes, (void)length;
    if (epoch == 0 || sleeper < 0)
        return;
    wake(sleeper);
    sleeper = -1;
}

/* Returns whether RANK is tested. Testing all ranks would only take longer. */
static bool is_example(int rank) {
    return rank < 2 || rank == world_ranks - 1;
}

/* A rank that joins only after a restart changes nothing. */
START_TEST(a_late_rank_is_waited_for) {
    static const struct {
        const char *spec;
        size_t bytes;
    } cases[] = {{"chain:chunk=64,window=3,confirm=1,retry=10", 3000},
                 {"chain:chunk=64K,window=2,confirm=1,retry=10", 3 << 20}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        MPI_Comm comm = open_comm(cases[c].spec, 0.4);
        for (int late = 0; late < world_ranks; late++) {
            int root = late == 1 ? 0 : 1;
            if (!is_example(late))
                continue;
            sleeper = world_rank == root ? late : -1;
            coll_chain_confirmed_tamper = wake_at_restart;
            if (world_rank == late)
                sleep_until_woken(1);
            harness_assert(arrives(comm, root, cases[c].bytes), "rank %d is late", late);
            coll_chain_confirmed_tamper = NULL;
            for (int next = 0; next < world_ranks; next++)
                harness_assert(arrives(comm, next, 5000), "afterwards");
        }
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* The other ranks wait for the root's first message as long as all attempts together may take. */
START_TEST(a_late_root_is_waited_for) {
    MPI_Comm comm = open_comm("chain:chunk=64,confirm=1,retry=10", 0.2);
    if (world_rank == 0)
        rest(0.5);
    harness_assert(arrives(comm, 0, 1000), "late root");
    MPI_Comm_free(&comm);
}
END_TEST

/*
 * Returns whether all ranks get the error that rank LATE was silent. It joins when all others have
 * given up.
 */
static bool is_named(const char *spec, size_t size, int late, double timeout) {
    char host[MPI_MAX_PROCESSOR_NAME], expected[MPI_MAX_PROCESSOR_NAME + 64];
    int length, root = late == 1 || world_ranks == 2 ? late : 0;
    MPI_Get_processor_name(host, &length);
    MPI_Comm comm = open_comm(spec, timeout);
    unsigned char *bytes = calloc(1, size);
    if (world_rank == late)
        sleep_until_woken(world_ranks - 1);
    int code = COLL_Bcast(bytes, (MPI_Count)size, MPI_BYTE, root, comm);
    if (world_rank != late)
        wake(late);
    const char *text = harness_text(code);
    snprintf(expected, sizeof expected, "rank %d on %s ", late, host);
    bool named = strstr(text, expected) && strstr(text, "silent for ");
    if (!named)
        printf("rank %d stays away for %.1f s, rank %d: %s\n", late, timeout, world_rank, text);
    harness_assert(harness_class(code) == MPI_ERR_OTHER, "rank %d stays away: %s", late, text);
    free(bytes);
    MPI_Comm_free(&comm);
    return harness_agree(named);
}

/*
 * On a busy machine other ranks may be silent for as long. The test repeats with longer time-outs,
 * but not forever.
 */
START_TEST(a_rank_that_stays_away_is_named) {
    static const struct {
        const char *spec;
        size_t bytes;
    } cases[] = {{"chain:chunk=64,window=3,confirm=1,retry=1", 3000},
                 {"chain:chunk=64K,window=2,confirm=1,retry=0", 3 << 20}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int late = 0; late < world_ranks; late++) {
            double timeout = 0.4;
            while (is_example(late) && !is_named(cases[c].spec, cases[c].bytes, late, timeout)) {
                timeout *= 3;
                harness_assert(timeout < 30, "rank %d stays away, and isn't named", late);
            }
        }
}
END_TEST

static Suite *faults(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    Suite *suite = suite_create("chain_confirmed");
    TCase *tests = tcase_create("confirmed chain");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, without_faults_all_arrives);
    tcase_add_test(tests, broadcasts_follow_each_other_closely);
    tcase_add_test(tests, megabytes_arrive);
    if (world_ranks == 1) {
        harness_skip("damage and late ranks, which need two ranks");
        return suite;
    }
    tcase_add_test(tests, data_with_gaps_arrives);
    tcase_add_test(tests, damage_is_mended);
    tcase_add_test(tests, damage_without_end_is_an_error_everywhere);
    tcase_add_test(tests, a_late_rank_is_waited_for);
    tcase_add_test(tests, a_late_root_is_waited_for);
    tcase_add_test(tests, a_rank_that_stays_away_is_named);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "2 3 5 8", faults);
}
