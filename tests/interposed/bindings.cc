// A C++ program, by the C++ bindings where the MPI library still has them. Rank 0 prints the same
// with and without dedicated processors.
#include <iostream>
#include <mpi.h>
#include <vector>

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
#endif
    MPI_Finalize();
    return 0;
}
