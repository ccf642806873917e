/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll.h in C++17: operations leave what MPI's own leave, requests are completed,
 * errors have texts, and a lambda combines a pool's values.
 */
#include <coll.h>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

static int rank, ranks, failures;

static void check(bool right, const std::string &what) {
    if (right)
        return;
    std::cout << "FAILED on rank " + std::to_string(rank) + ": " + what + "\n";
    failures++;
}

static void operations(MPI_Comm comm) {
    std::vector<double> mine(100, rank + 0.5), expected(100), got(100);
    MPI_Allreduce(mine.data(), expected.data(), 100, MPI_DOUBLE, MPI_SUM, comm);
    COLL_Allreduce(mine.data(), got.data(), 100, MPI_DOUBLE, MPI_SUM, comm);
    check(got == expected, "allreduce");

    std::vector<MPI_Count> counts(static_cast<std::size_t>(ranks), 1);
    std::vector<MPI_Aint> places(counts.size());
    std::iota(places.begin(), places.end(), 0);
    std::vector<int> all(counts.size()), numbers(counts.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    COLL_Request request = COLL_REQUEST_NULL;
    COLL_Iallgatherv(&rank, 1, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, comm,
                     &request);
    int complete = 0;
    while (!complete)
        COLL_Test(&request, &complete);
    check(all == numbers && request == COLL_REQUEST_NULL, "allgatherv");

    int value = rank;
    COLL_Bcast_init(&value, 1, MPI_INT, ranks - 1, comm, MPI_INFO_NULL, &request);
    COLL_Start(&request);
    COLL_Waitall(1, &request);
    COLL_Request_free(&request);
    check(value == ranks - 1, "bcast");
}

static void errors(MPI_Comm comm) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    char text[MPI_MAX_ERROR_STRING];
    int length, code = COLL_Set(comm, "bcast", "nonsense");
    MPI_Error_string(code, text, &length);
    check(std::string(text).find("nonsense") != std::string::npos, "the text of an error");
}

static void aggregate(MPI_Comm comm) {
    COLL_Pool *pool = nullptr;
    COLL_Pool_create(
        sizeof(std::uint64_t),
        [](void *into, const void *from, std::size_t, void *) {
            *static_cast<std::uint64_t *>(into) += *static_cast<const std::uint64_t *>(from);
        },
        nullptr, &pool);
    for (std::uint64_t key = 0; key < 10; key++)
        COLL_Pool_add(pool, key / 2, &key);
    COLL_Aggregate(pool, 0, comm, nullptr);
    const void *found = COLL_Pool_find(pool, 4);
    std::uint64_t sum = 0;
    if (found)
        std::memcpy(&sum, found, sizeof sum);
    check(sum == (rank == 0 ? 17u * static_cast<unsigned>(ranks) : 0u), "aggregate");
    COLL_Pool_free(&pool);
    check(!pool, "COLL_Pool_free");
}

int main(int argc, char **argv) {
    if (argc > 1 && std::string(argv[1]) == "--ranks") {
        std::cout << "2\n";
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    COLL_Set(comm, "allreduce", "ring");
    operations(comm);
    aggregate(comm);
    errors(comm);
    MPI_Comm_free(&comm);
    int all_failures;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_failures > 0;
}
