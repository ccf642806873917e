! SPDX-License-Identifier: BSD-3-Clause
! The first program in Fortran 2008: rank 0 broadcasts, every rank prints.
!
!     mpifort first_f08.f90 $(pkg-config --cflags --libs coll_f08) -o first_f08
!     mpirun -n 4 ./first_f08
program first
    use mpi_f08
    use coll_f08
    implicit none
    integer :: rank
    character(len=17) :: greeting
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    if (rank == 0) greeting = 'hello from rank 0'
    call COLL_Bcast(greeting, len(greeting), MPI_CHARACTER, 0, MPI_COMM_WORLD)
    print '(a, i0, 2a)', 'rank ', rank, ': ', greeting
    call MPI_Finalize()
end program
