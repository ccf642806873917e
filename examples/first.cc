/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first program in C++: rank 0 broadcasts, every rank prints.
 *
 *     mpicxx first.cc $(pkg-config --cflags --libs coll) -o first_cxx
 *     mpirun -n 4 ./first_cxx
 */
#include <coll.h>
#include <iostream>
#include <string>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::string greeting(17, ' ');
    if (rank == 0)
        greeting = "hello from rank 0";
    COLL_Bcast(greeting.data(), static_cast<MPI_Count>(greeting.size()), MPI_CHAR, 0,
               MPI_COMM_WORLD);
    std::cout << "rank " + std::to_string(rank) + ": " + greeting + "\n";
    MPI_Finalize();
    return 0;
}
