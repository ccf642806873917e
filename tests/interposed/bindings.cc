/* SPDX-License-Identifier: BSD-3-Clause */
// A C++ program, by the C++ bindings where the MPI library still has them. Rank 0 prints the same
// with and without dedicated processors.
#include <iostream>
#include <mpi.h>
#include <vector>

#if defined(OMPI_BUILD_CXX_BINDINGS) && OMPI_BUILD_CXX_BINDINGS
static int calls, calls_on_world;

static void note(const MPI::Comm &comm) {
    calls++;
    calls_on_world += (MPI_Comm)comm == MPI_COMM_WORLD;
}

static void on_error(MPI::Comm &comm, int *, ...) {
    note(comm);
}

static int on_copy(const MPI::Comm &comm, int, void *, void *from, void *to, bool &flag) {
    note(comm);
    *(void **)to = from;
    flag = true;
    return MPI_SUCCESS;
}

static int on_delete(MPI::Comm &comm, int, void *, void *) {
    note(comm);
    return MPI_SUCCESS;
}

// Two errors, the copy of an attribute, and its end on the copy and on the world.
static void call_back() {
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_error);
    MPI::COMM_WORLD.Set_errhandler(handler);
    MPI::COMM_WORLD.Call_errhandler(MPI_ERR_OTHER);
    MPI_Send(&calls, 1, MPI_INT, MPI::COMM_WORLD.Get_size(), 0, MPI_COMM_WORLD); // no such rank
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
    handler.Free();

    int keyval = MPI::Comm::Create_keyval(on_copy, on_delete, nullptr);
    MPI::COMM_WORLD.Set_attr(keyval, &calls);
    MPI::Intracomm copy = MPI::COMM_WORLD.Dup();
    copy.Free();
    MPI::COMM_WORLD.Delete_attr(keyval);
    MPI::Comm::Free_keyval(keyval);
}
#endif

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<long> mine(5, rank), sum(5);
    MPI_Allreduce(mine.data(), sum.data(), 5, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::cout << "ranks " << ranks << " sum " << sum[4] << '\n';
#if defined(OMPI_BUILD_CXX_BINDINGS) && OMPI_BUILD_CXX_BINDINGS
    int most = -1;
    MPI::COMM_WORLD.Allreduce(&rank, &most, 1, MPI::INT, MPI::MAX);
    MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, rank);
    if (rank == 0)
        std::cout << "max " << most << " half " << half.Get_size() << " of "
                  << MPI::COMM_WORLD.Get_size() << '\n';
    half.Free();
    call_back();
    if (rank == 0)
        std::cout << "callbacks " << calls << " on the world " << calls_on_world << '\n';
#endif
    MPI_Finalize();
    return 0;
}
