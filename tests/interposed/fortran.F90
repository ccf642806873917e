! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program, in the binding that BINDING says: 77 for mpif.h, 90 for use mpi, 8 for
! use mpi_f08. Rank 0 prints the same with and without dedicated processors.
#if BINDING == 8
#define HANDLE(NAME) type(MPI_/**/NAME)
#define CALLBACKS callbacks_f08
#elif BINDING == 90
#define HANDLE(NAME) integer
#define CALLBACKS callbacks_90
#else
#define HANDLE(NAME) integer
#define CALLBACKS callbacks_77
#endif

module CALLBACKS
#if BINDING == 8
    use mpi_f08
#elif BINDING == 90
    use mpi
#endif
    implicit none
#if BINDING == 77
    include 'mpif.h'
#endif
    integer :: errors_on_world = 0, copies_of_world = 0, deletions = 0
contains
    subroutine on_error(comm, code)
        HANDLE(Comm) :: comm
        integer :: code
        if (comm == MPI_COMM_WORLD .and. code /= MPI_SUCCESS) errors_on_world = errors_on_world + 1
    end subroutine

    subroutine on_copy(comm, keyval, extra, value, copy, flag, ierr)
        HANDLE(Comm) :: comm
        integer :: keyval, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value, copy
        logical :: flag
        if (comm == MPI_COMM_WORLD .and. extra == 11) copies_of_world = copies_of_world + 1
        copy = value + 1
        flag = .true.
        ierr = MPI_SUCCESS
    end subroutine

    subroutine on_delete(comm, keyval, value, extra, ierr)
        HANDLE(Comm) :: comm
        integer :: keyval, ierr
        integer(MPI_ADDRESS_KIND) :: extra, value
        ierr = MPI_SUCCESS
    end subroutine

#if BINDING != 8
    ! As MPI-1 has them.
    subroutine on_copy_1(comm, keyval, extra, value, copy, flag, ierr)
        integer :: comm, keyval, extra, value, copy, ierr
        logical :: flag
        if (comm == MPI_COMM_WORLD .and. extra == 12) copies_of_world = copies_of_world + 1
        copy = value + 1
        flag = .true.
        ierr = MPI_SUCCESS
    end subroutine

    ! Open MPI 4 doesn't tell it which communicator.
    subroutine on_delete_1(comm, keyval, value, extra, ierr)
        integer :: comm, keyval, value, extra, ierr
        if (extra == 12) deletions = deletions + 1
        ierr = MPI_SUCCESS
    end subroutine
#endif
end module

program main
    use CALLBACKS
    implicit none
    integer :: ierr, rank, ranks

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    if (rank == 0) print *, 'ranks', ranks
    call reductions()
    call requests()
    call communicators()
    call attributes()
#if BINDING != 8
    call attributes_1()
#endif
    call errors()
    call MPI_Finalize(ierr)

contains
    subroutine reductions()
        integer :: sum, places(2), closest(2), i
        integer, allocatable :: all(:)
        double precision :: one, whole, many(3), most(3)
        complex(kind(1d0)) :: z, product
        logical :: mine, some
        call MPI_Allreduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        one = 1
        call MPI_Allreduce(one, whole, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
        many = [1d0, 2d0, 3d0]*rank
        call MPI_Allreduce(MPI_IN_PLACE, many, 3, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
        places = [mod(rank + 1, ranks), rank]
        call MPI_Allreduce(places, closest, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierr)
        z = (0d0, 1d0)
        call MPI_Allreduce(z, product, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierr)
        mine = rank == ranks - 1
        call MPI_Allreduce(mine, some, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
        most = rank
        call MPI_Bcast(most, 3, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierr)
        allocate (all(ranks))
        call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        if (rank /= 0) return
        print *, 'allreduce', sum, whole, many, closest, product, some
        print *, 'bcast', most, 'gather', (all(i), i=1, ranks)
    end subroutine

    subroutine requests()
        HANDLE(Request) :: pending(4), one
        integer, asynchronous :: sum, most, from, index
        integer :: indices(4), done, i
        logical :: flag
        sum = 0
        call MPI_Iallreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, one, ierr)
        call MPI_Wait(one, MPI_STATUS_IGNORE, ierr)
        if (one /= MPI_REQUEST_NULL) print *, 'request is still there'
        if (rank == 0) print *, 'wait', sum

        call start(pending, sum, most, from)
        call MPI_Waitall(4, pending, MPI_STATUSES_IGNORE, ierr)
        if (rank == 0) print *, 'waitall', sum, most, from

        call start(pending, sum, most, from)
        flag = .false.
        do while (.not. flag)
            call MPI_Testall(4, pending, flag, MPI_STATUSES_IGNORE, ierr)
        end do
        if (rank == 0) print *, 'testall', sum, most, from

        call start(pending, sum, most, from)
        do i = 1, 4
            call MPI_Waitany(4, pending, index, MPI_STATUS_IGNORE, ierr)
            if (left(pending) /= 4 - i) print *, 'request is still there'
        end do
        call MPI_Waitany(4, pending, index, MPI_STATUS_IGNORE, ierr)
        if (rank == 0) print *, 'waitany', sum, most, from, index == MPI_UNDEFINED

        call start(pending, sum, most, from)
        done = 0
        i = 0
        do while (done < 4)
            call MPI_Waitsome(4, pending, i, indices, MPI_STATUSES_IGNORE, ierr)
            done = done + i
        end do
        if (rank == 0) print *, 'waitsome', sum, most, from
    end subroutine

    ! Not by their indices: MPICH 4.0 counts these from 0 in mpi_f08.
    integer function left(pending)
        HANDLE(Request) :: pending(4)
        integer :: i
        left = 0
        do i = 1, 4
            if (pending(i) /= MPI_REQUEST_NULL) left = left + 1
        end do
    end function

    subroutine start(pending, sum, most, from)
        HANDLE(Request) :: pending(4)
        integer, asynchronous :: sum, most, from
        sum = -1
        most = -1
        from = -1
        call MPI_Irecv(from, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 5, MPI_COMM_WORLD, &
                       pending(2), ierr)
        call MPI_Iallreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, pending(1), ierr)
        call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 5, MPI_COMM_WORLD, pending(4), &
                       ierr)
        call MPI_Iallreduce(rank, most, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, pending(3), ierr)
    end subroutine

    subroutine communicators()
        HANDLE(Comm) :: dup, half, grid
        integer :: size, sum, before, after, length
        character(MPI_MAX_OBJECT_NAME) :: name
        call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
        call MPI_Comm_split(dup, mod(rank, 2), rank, half, ierr)
        call MPI_Comm_size(half, size, ierr)
        call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, half, ierr)
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., grid, ierr)
        call MPI_Cart_shift(grid, 0, 1, before, after, ierr)
        call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
        if (rank == 0) print *, 'split', size, sum, 'grid', before, after, name(1:length)
        call MPI_Comm_free(grid, ierr)
        call MPI_Comm_free(half, ierr)
        call MPI_Comm_free(dup, ierr)
    end subroutine

    subroutine attributes()
        HANDLE(Comm) :: dup
        integer :: keyval
        integer(MPI_ADDRESS_KIND) :: value, extra
        logical :: flag, flag_of_dup
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
        if (rank == 0) print *, 'tag_ub', flag, value
        extra = 11
        call MPI_Comm_create_keyval(on_copy, on_delete, keyval, extra, ierr)
        value = 5
        call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value, ierr)
        call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
        call MPI_Comm_get_attr(dup, keyval, value, flag, ierr)
        if (rank == 0) print *, 'attribute of dup', flag, value, copies_of_world
        call MPI_Comm_get_attr(dup, MPI_TAG_UB, value, flag_of_dup, ierr)
        if (rank == 0) print *, 'tag_ub of dup', flag_of_dup
        call MPI_Comm_free(dup, ierr)
        call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval, ierr)
        call MPI_Comm_free_keyval(keyval, ierr)
    end subroutine

#if BINDING != 8
    subroutine attributes_1()
        integer :: dup, keyval, value, another
        logical :: flag
        call MPI_Keyval_create(on_copy_1, on_delete_1, another, 13, ierr)
        call MPI_Keyval_create(on_copy_1, on_delete_1, keyval, 12, ierr)
        call MPI_Attr_put(MPI_COMM_WORLD, keyval, 7, ierr)
        call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
        call MPI_Attr_get(dup, keyval, value, flag, ierr)
        call MPI_Comm_free(dup, ierr)
        call MPI_Attr_delete(MPI_COMM_WORLD, keyval, ierr)
        if (rank == 0) print *, 'attribute of MPI-1', flag, value, copies_of_world, deletions
        call MPI_Keyval_free(keyval, ierr)
        call MPI_Keyval_free(another, ierr)
    end subroutine
#endif

    subroutine errors()
        HANDLE(Errhandler) :: handler
        call MPI_Comm_create_errhandler(on_error, handler, ierr)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
        call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierr)
        if (rank == 0) print *, 'errors on world', errors_on_world
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
        call MPI_Errhandler_free(handler, ierr)
    end subroutine
end program
