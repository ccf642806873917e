! SPDX-License-Identifier: BSD-3-Clause
! The Fortran module: every operation of it, blocking, nonblocking and persistent, by default integers
! and by large counts, leaves what MPI's own leaves; and what is Fortran's alone: array sections,
! constants that C has elsewhere, arguments by name or left out, errors.
module checks
    use mpi_f08
    use coll_f08
    implicit none
    integer :: rank, ranks, failures = 0
    ! The kinds of call.
    integer, parameter :: BLOCKING = 1, STARTED = 2, KEPT = 3
    character(len=10), parameter :: ways(3) = ['blocking  ', 'started   ', 'persistent']

contains
    subroutine check(right, what)
        logical, intent(in) :: right
        character(len=*), intent(in) :: what
        if (right) return
        print '(a, i0, 2a)', 'FAILED on rank ', rank, ': ', what
        failures = failures + 1
    end subroutine

    ! Completes what was started in this way; starts a persistent one, twice.
    subroutine finish(way, request, what)
        integer, intent(in) :: way
        type(COLL_Request), intent(inout) :: request
        character(len=*), intent(in) :: what
        logical :: complete
        integer :: times
        if (way == STARTED) then
            call COLL_Wait(request)
        else if (way == KEPT) then
            do times = 1, 2
                call COLL_Start(request)
                complete = .false.
                do while (.not. complete)
                    call COLL_Test(request, complete)
                end do
            end do
            call check(request /= COLL_REQUEST_NULL, what//': a persistent request is gone')
            call COLL_Request_free(request)
        end if
        if (way /= BLOCKING) call check(request == COLL_REQUEST_NULL, what//': a request is left')
    end subroutine
end module

program main
    use checks
    implicit none
    type(MPI_Comm) :: comm
    character(len=16) :: argument
    integer :: way, all_failures
    call get_command_argument(1, argument)
    if (argument == '--ranks') then
        print '(a)', '1 3'
        stop
    end if
    call MPI_Init()
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    call choose()
    do way = BLOCKING, KEPT
        call rooted(way)
        call reductions(way)
        call exchanges(way)
        call uneven(way)
        call large(way)
    end do
    call fortran_alone()
    call among_neighbors()
    call waits()
    call dedicated()
    call errors()
    call aggregate()
    call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, comm)
    call MPI_Comm_free(comm)
    call MPI_Finalize()
    if (all_failures > 0) stop 1

contains
    ! Algorithms of libcoll: on one host the MPI library's own would run.
    subroutine choose()
        call COLL_Set(comm, 'bcast', 'binomial')
        call COLL_Set(comm, 'gather', 'linear')
        call COLL_Set(comm, 'allreduce', 'ring ')
        call COLL_Set(comm, 'reduce', 'chain')
        call COLL_Set(comm, 'reduce_scatter', 'ring')
        call COLL_Set(comm, 'allgather', 'ring')
        call COLL_Set(comm, 'alltoall', 'pairwise')
        call COLL_Set(comm, 'scatter', 'straight')
        call COLL_Set(comm, 'barrier', 'dissemination')
        call COLL_Set(comm, 'scan', 'linear')
        call COLL_Set(comm, 'exscan', 'linear')
    end subroutine

    subroutine rooted(way)
        integer, intent(in) :: way
        type(COLL_Request) :: request
        double precision, asynchronous :: data(5), mine(2), all(2*ranks)
        double precision :: expected(2*ranks)
        integer :: i, root
        root = ranks - 1
        data = [(rank*10d0 + i, i=1, 5)]
        select case (way)
        case (BLOCKING)
            call COLL_Bcast(data, 5, MPI_DOUBLE_PRECISION, root, comm)
        case (STARTED)
            call COLL_Ibcast(data, 5, MPI_DOUBLE_PRECISION, root, comm, request)
        case (KEPT)
            call COLL_Bcast_init(data, 5, MPI_DOUBLE_PRECISION, root, comm, MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'bcast')
        call check(all_are(data, [(root*10d0 + i, i=1, 5)]), ways(way)//' bcast')

        mine = [rank + 0.25d0, rank + 0.5d0]
        all = -1
        expected = -1
        call MPI_Gather(mine, 2, MPI_DOUBLE_PRECISION, expected, 2, MPI_DOUBLE_PRECISION, root, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Gather(mine, 2, MPI_DOUBLE_PRECISION, all, 2, MPI_DOUBLE_PRECISION, root, comm)
        case (STARTED)
            call COLL_Igather(mine, 2, MPI_DOUBLE_PRECISION, all, 2, MPI_DOUBLE_PRECISION, root, &
                              comm, request)
        case (KEPT)
            call COLL_Gather_init(mine, 2, MPI_DOUBLE_PRECISION, all, 2, MPI_DOUBLE_PRECISION, &
                                  root, comm, MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'gather')
        call check(all_are(all, expected), ways(way)//' gather')

        all = [(rank*100d0 + i, i=1, 2*ranks)]
        mine = -1
        select case (way)
        case (BLOCKING)
            call COLL_Scatter(all, 2, MPI_DOUBLE_PRECISION, mine, 2, MPI_DOUBLE_PRECISION, root, comm)
        case (STARTED)
            call COLL_Iscatter(all, 2, MPI_DOUBLE_PRECISION, mine, 2, MPI_DOUBLE_PRECISION, root, &
                               comm, request)
        case (KEPT)
            call COLL_Scatter_init(all, 2, MPI_DOUBLE_PRECISION, mine, 2, MPI_DOUBLE_PRECISION, &
                                   root, comm, MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'scatter')
        call check(all_are(mine, root*100d0 + [2*rank + 1d0, 2*rank + 2d0]), ways(way)//' scatter')

        select case (way)
        case (BLOCKING)
            call COLL_Barrier(comm)
        case (STARTED)
            call COLL_Ibarrier(comm, request)
        case (KEPT)
            call COLL_Barrier_init(comm, MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'barrier')
    end subroutine

    subroutine reductions(way)
        integer, intent(in) :: way
        type(COLL_Request) :: request
        integer, asynchronous :: mine(4*ranks), sum(4*ranks), part(4)
        integer :: expected(4*ranks), i
        mine = [(mod(rank*31 + i*17, 101), i=1, 4*ranks)]

        call MPI_Allreduce(mine, expected, size(mine), MPI_INTEGER, MPI_MAX, comm)
        sum = -1
        select case (way)
        case (BLOCKING)
            call COLL_Allreduce(mine, sum, size(mine), MPI_INTEGER, MPI_MAX, comm)
        case (STARTED)
            call COLL_Iallreduce(mine, sum, size(mine), MPI_INTEGER, MPI_MAX, comm, request)
        case (KEPT)
            call COLL_Allreduce_init(mine, sum, size(mine), MPI_INTEGER, MPI_MAX, comm, &
                                     MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'allreduce')
        call check(all(sum == expected), ways(way)//' allreduce')

        expected = -1
        sum = -1
        call MPI_Reduce(mine, expected, size(mine), MPI_INTEGER, MPI_SUM, 0, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Reduce(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, 0, comm)
        case (STARTED)
            call COLL_Ireduce(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, 0, comm, request)
        case (KEPT)
            call COLL_Reduce_init(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, 0, comm, &
                                  MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'reduce')
        if (rank == 0) call check(all(sum == expected), ways(way)//' reduce')

        part = -1
        call MPI_Reduce_scatter_block(mine, expected, 4, MPI_INTEGER, MPI_SUM, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Reduce_scatter_block(mine, part, 4, MPI_INTEGER, MPI_SUM, comm)
        case (STARTED)
            call COLL_Ireduce_scatter_block(mine, part, 4, MPI_INTEGER, MPI_SUM, comm, request)
        case (KEPT)
            call COLL_Reduce_scatter_block_init(mine, part, 4, MPI_INTEGER, MPI_SUM, comm, &
                                                MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'reduce_scatter_block')
        call check(all(part == expected(:4)), ways(way)//' reduce_scatter_block')

        sum = -1
        call MPI_Scan(mine, expected, size(mine), MPI_INTEGER, MPI_SUM, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Scan(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, comm)
        case (STARTED)
            call COLL_Iscan(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, comm, request)
        case (KEPT)
            call COLL_Scan_init(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, &
                                request)
        end select
        call finish(way, request, 'scan')
        call check(all(sum == expected), ways(way)//' scan')

        expected = -1
        sum = -1
        call MPI_Exscan(mine, expected, size(mine), MPI_INTEGER, MPI_SUM, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Exscan(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, comm)
        case (STARTED)
            call COLL_Iexscan(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, comm, request)
        case (KEPT)
            call COLL_Exscan_init(mine, sum, size(mine), MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, &
                                  request)
        end select
        call finish(way, request, 'exscan')
        call check(rank == 0 .or. all(sum == expected), ways(way)//' exscan')
    end subroutine

    subroutine exchanges(way)
        integer, intent(in) :: way
        type(COLL_Request) :: request
        complex, asynchronous :: mine(2), given(ranks), got(ranks), gathered(2*ranks)
        complex :: expected(2*ranks)
        integer :: i
        mine = [cmplx(rank, 1), cmplx(rank, 2)]
        call MPI_Allgather(mine, 2, MPI_COMPLEX, expected, 2, MPI_COMPLEX, comm)
        gathered = 0
        select case (way)
        case (BLOCKING)
            call COLL_Allgather(mine, 2, MPI_COMPLEX, gathered, 2, MPI_COMPLEX, comm)
        case (STARTED)
            call COLL_Iallgather(mine, 2, MPI_COMPLEX, gathered, 2, MPI_COMPLEX, comm, request)
        case (KEPT)
            call COLL_Allgather_init(mine, 2, MPI_COMPLEX, gathered, 2, MPI_COMPLEX, comm, &
                                     MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'allgather')
        call check(all(gathered == expected), ways(way)//' allgather')

        given = [(cmplx(rank, i), i=1, ranks)]
        got = 0
        call MPI_Alltoall(given, 1, MPI_COMPLEX, expected, 1, MPI_COMPLEX, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Alltoall(given, 1, MPI_COMPLEX, got, 1, MPI_COMPLEX, comm)
        case (STARTED)
            call COLL_Ialltoall(given, 1, MPI_COMPLEX, got, 1, MPI_COMPLEX, comm, request)
        case (KEPT)
            call COLL_Alltoall_init(given, 1, MPI_COMPLEX, got, 1, MPI_COMPLEX, comm, &
                                    MPI_INFO_NULL, request)
        end select
        call finish(way, request, 'alltoall')
        call check(all(got == expected(:ranks)), ways(way)//' alltoall')
    end subroutine

    ! Rank r has r + 1 numbers, with one to spare behind each block. The lists of what is started go at
    ! once.
    subroutine uneven(way)
        integer, intent(in) :: way
        type(COLL_Request) :: request
        integer, asynchronous :: mine(rank + 1), got((ranks + 3)*ranks), given((ranks + 3)*ranks)
        integer :: expected(size(got)), counts(ranks), places(ranks), own(ranks), apart(ranks), i
        integer, allocatable :: c(:), p(:), o(:), a(:)
        type(MPI_Datatype), allocatable :: t(:)
        mine = [(100*rank + i, i=1, rank + 1)]
        counts = [(i, i=1, ranks)]
        places = [(i*(i - 1)/2 + i - 1, i=1, ranks)]
        own = rank + 1
        apart = [((i - 1)*(rank + 2), i=1, ranks)]
        c = counts
        p = places
        o = own
        a = apart

        expected = -1
        got = -1
        call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, expected, counts, places, MPI_INTEGER, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Allgatherv(mine, rank + 1, MPI_INTEGER, got, c, p, MPI_INTEGER, comm)
        case (STARTED)
            call COLL_Iallgatherv(mine, rank + 1, MPI_INTEGER, got, c, p, MPI_INTEGER, comm, request)
        case (KEPT)
            call COLL_Allgatherv_init(mine, rank + 1, MPI_INTEGER, got, c, p, MPI_INTEGER, comm, &
                                      MPI_INFO_NULL, request)
        end select
        c = -7
        p = -7
        call finish(way, request, 'allgatherv')
        call check(all(got == expected), ways(way)//' allgatherv')

        expected = -1
        got = -1
        c = counts
        p = places
        if (rank /= 0) then
            ! They count at the root alone.
            c = [integer ::]
            p = [integer ::]
        end if
        call MPI_Gatherv(mine, rank + 1, MPI_INTEGER, expected, counts, places, MPI_INTEGER, 0, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Gatherv(mine, rank + 1, MPI_INTEGER, got, c, p, MPI_INTEGER, 0, comm)
        case (STARTED)
            call COLL_Igatherv(mine, rank + 1, MPI_INTEGER, got, c, p, MPI_INTEGER, 0, comm, request)
        case (KEPT)
            call COLL_Gatherv_init(mine, rank + 1, MPI_INTEGER, got, c, p, MPI_INTEGER, 0, comm, &
                                   MPI_INFO_NULL, request)
        end select
        c = -7
        p = -7
        call finish(way, request, 'gatherv')
        call check(all(got == expected), ways(way)//' gatherv')

        given = [(1000*rank + i, i=1, size(given))]
        mine = -1
        c = counts
        p = places
        call MPI_Scatterv(given, counts, places, MPI_INTEGER, expected, rank + 1, MPI_INTEGER, 0, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Scatterv(given, c, p, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, 0, comm)
        case (STARTED)
            call COLL_Iscatterv(given, c, p, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, 0, comm, &
                                request)
        case (KEPT)
            call COLL_Scatterv_init(given, c, p, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, 0, comm, &
                                    MPI_INFO_NULL, request)
        end select
        c = -7
        p = -7
        call finish(way, request, 'scatterv')
        call check(all(mine == expected(:rank + 1)), ways(way)//' scatterv')

        expected = -1
        got = -1
        c = counts
        p = places
        call MPI_Alltoallv(given, counts, places, MPI_INTEGER, expected, own, apart, MPI_INTEGER, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Alltoallv(given, c, p, MPI_INTEGER, got, o, a, MPI_INTEGER, comm)
        case (STARTED)
            call COLL_Ialltoallv(given, c, p, MPI_INTEGER, got, o, a, MPI_INTEGER, comm, request)
        case (KEPT)
            call COLL_Alltoallv_init(given, c, p, MPI_INTEGER, got, o, a, MPI_INTEGER, comm, &
                                     MPI_INFO_NULL, request)
        end select
        c = -7
        p = -7
        o = -7
        a = -7
        call finish(way, request, 'alltoallv')
        call check(all(got == expected), ways(way)//' alltoallv')

        got = -1
        c = counts
        p = 4*places
        o = own
        a = 4*apart
        t = [(MPI_INTEGER, i=1, ranks)]
        select case (way)
        case (BLOCKING)
            call COLL_Alltoallw(given, c, p, t, got, o, a, t, comm)
        case (STARTED)
            call COLL_Ialltoallw(given, c, p, t, got, o, a, t, comm, request)
        case (KEPT)
            call COLL_Alltoallw_init(given, c, p, t, got, o, a, t, comm, MPI_INFO_NULL, request)
        end select
        c = -7
        p = -7
        o = -7
        a = -7
        t = MPI_DATATYPE_NULL
        call finish(way, request, 'alltoallw')
        call check(all(got == expected), ways(way)//' alltoallw')

        c = counts
        mine = -1
        call MPI_Reduce_scatter(given, expected, counts, MPI_INTEGER, MPI_SUM, comm)
        select case (way)
        case (BLOCKING)
            call COLL_Reduce_scatter(given, mine, c, MPI_INTEGER, MPI_SUM, comm)
        case (STARTED)
            call COLL_Ireduce_scatter(given, mine, c, MPI_INTEGER, MPI_SUM, comm, request)
        case (KEPT)
            call COLL_Reduce_scatter_init(given, mine, c, MPI_INTEGER, MPI_SUM, comm, &
                                          MPI_INFO_NULL, request)
        end select
        c = -7
        call finish(way, request, 'reduce_scatter')
        call check(all(mine == expected(:rank + 1)), ways(way)//' reduce_scatter')
    end subroutine

    ! The other specific of the generics.
    subroutine large(way)
        integer, intent(in) :: way
        type(COLL_Request) :: request
        integer, asynchronous :: mine(2), got(2*ranks)
        integer :: expected(2*ranks), i
        integer(MPI_COUNT_KIND) :: two, counts(ranks)
        integer(MPI_ADDRESS_KIND) :: places(ranks)
        two = 2
        counts = 2
        places = [(2_MPI_ADDRESS_KIND*(ranks - i), i=1, ranks)]
        mine = [rank, -rank]
        expected = [((ranks - i)*[1, -1], i=1, ranks)]
        got = -1
        select case (way)
        case (BLOCKING)
            call COLL_Allgatherv(mine, two, MPI_INTEGER, got, counts, places, MPI_INTEGER, comm)
        case (STARTED)
            call COLL_Iallgatherv(mine, two, MPI_INTEGER, got, counts, places, MPI_INTEGER, comm, &
                                  request)
        case (KEPT)
            call COLL_Allgatherv_init(mine, two, MPI_INTEGER, got, counts, places, MPI_INTEGER, &
                                      comm, MPI_INFO_NULL, request)
        end select
        counts = -7
        places = -7
        call finish(way, request, 'large counts')
        call check(all(got == expected), ways(way)//' large counts')
        call COLL_Bcast(mine, two, MPI_INTEGER, 0, comm)
        call check(all(mine == 0), 'a large count')
    end subroutine

    subroutine fortran_alone()
        integer :: matrix(4, 4), column(4), expected(4, 4), code, i, dummy(1)
        integer, allocatable :: block(:)
        character(len=5) :: text
        logical :: flag

        matrix = rank
        expected = rank
        expected(2, :) = 0
        call COLL_Bcast(matrix(2, :), 4, MPI_INTEGER, 0, comm)
        call check(all(matrix == expected), 'a row is broadcast')
        matrix = rank
        expected = rank
        expected(1:3:2, 1:4:3) = ranks*(ranks - 1)/2
        call COLL_Allreduce(matrix(1:3:2, 1:4:3), matrix(1:3:2, 1:4:3), 4, MPI_INTEGER, MPI_SUM, comm)
        call check(all(matrix == expected), 'a section is summed')

        column = rank
        call COLL_Allreduce(MPI_IN_PLACE, column, 4, MPI_INTEGER, MPI_SUM, comm)
        call check(all(column == ranks*(ranks - 1)/2), 'allreduce in place')
        allocate (block(ranks))
        block = -1
        block(rank + 1) = rank
        call COLL_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, block, 1, MPI_INTEGER, comm)
        call check(all(block == [(i, i=0, ranks - 1)]), 'allgather in place')
        block = rank*10 + [(i, i=0, ranks - 1)]
        dummy = -1
        call COLL_Alltoallv(MPI_IN_PLACE, dummy(:0), dummy(:0), MPI_DATATYPE_NULL, block, &
                            [(1, i=1, ranks)], [(i, i=0, ranks - 1)], MPI_INTEGER, comm)
        call check(all(block == [(10*i + rank, i=0, ranks - 1)]), 'alltoallv in place')

        text = 'wrong'
        if (rank == 0) text = 'right'
        code = -1
        call COLL_Bcast(buffer=text, count=5, datatype=MPI_CHARACTER, root=0, comm=comm, ierror=code)
        call check(text == 'right' .and. code == MPI_SUCCESS, 'arguments by name')
        flag = rank == 0
        call COLL_Bcast(flag, 1, MPI_LOGICAL, 0, comm)
        call check(flag, 'a scalar')
        call check(index(COLL_Version(), '.') > 1, 'the version')
    end subroutine

    ! Every rank sends its number to rank 0, which sends nothing: the lists differ in length.
    subroutine among_neighbors()
        type(MPI_Comm) :: star
        integer :: sources(ranks), destination(1), in, out, i
        integer :: numbers(2*ranks), expected(2*ranks), some(ranks), places(ranks)
        integer(MPI_ADDRESS_KIND) :: bytes(ranks)
        type(MPI_Datatype) :: types(ranks)
        in = merge(ranks - 1, 0, rank == 0)
        out = merge(0, 1, rank == 0)
        sources = [(i, i=1, ranks)]
        destination = 0
        call MPI_Dist_graph_create_adjacent(comm, in, sources, MPI_UNWEIGHTED, out, destination, &
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, .false., star)
        some = 1
        places = [(2*i - 2, i=1, ranks)]
        bytes = 4*places
        types = MPI_INTEGER
        expected = -1
        if (rank == 0) expected(1:2*ranks - 2:2) = [(i, i=1, ranks - 1)]
        numbers = -1
        call COLL_Neighbor_alltoallv([rank], some(:out), places(:out), MPI_INTEGER, numbers, &
                                     some(:in), places(:in), MPI_INTEGER, star)
        call check(all(numbers == expected), 'neighbor_alltoallv')
        numbers = -1
        call COLL_Neighbor_alltoallw([rank], some(:out), bytes(:out), types(:out), numbers, &
                                     some(:in), bytes(:in), types(:in), star)
        call check(all(numbers == expected), 'neighbor_alltoallw')
        call MPI_Comm_free(star)
    end subroutine

    subroutine waits()
        type(COLL_Request) :: requests(3)
        integer, asynchronous :: one, two, sum
        one = rank
        two = rank
        call COLL_Ibcast(one, 1, MPI_INTEGER, 0, comm, requests(1))
        call COLL_Ibcast(two, 1, MPI_INTEGER, ranks - 1, comm, requests(2))
        call COLL_Iallreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, comm, requests(3))
        call COLL_Waitall(3, requests)
        call check(one == 0 .and. two == ranks - 1 .and. sum == ranks*(ranks - 1)/2, 'waitall')
    end subroutine

    subroutine dedicated()
        type(DCP_Request) :: request
        double precision, asynchronous :: mine, sum
        logical :: complete
        mine = 0.5d0
        call DCP_IAllreduce(mine, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, request)
        call DCP_Wait(request)
        call check(sum == 0.5d0*ranks .and. request == DCP_REQUEST_NULL, 'DCP_Wait')
        call DCP_IAllreduce(mine, sum, 1_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, MPI_MAX, comm, request)
        complete = .false.
        do while (.not. complete)
            call DCP_Test(request, complete)
        end do
        call check(sum == 0.5d0 .and. .not. request /= DCP_REQUEST_NULL, 'DCP_Test')
    end subroutine

    subroutine errors()
        type(COLL_Request) :: request
        integer, asynchronous :: numbers(4)
        integer :: code, class, added, length
        logical :: classes_known ! of codes that were added, which MPICH 4.0 doesn't know
        character(len=MPI_MAX_ERROR_STRING) :: text
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
        call MPI_Add_error_code(MPI_ERR_ROOT, added)
        classes_known = added > MPI_ERR_LASTCODE
        numbers = 0
        call COLL_Bcast(numbers, 4, MPI_INTEGER, ranks, comm, code)
        call MPI_Error_class(code, class)
        call check(code /= MPI_SUCCESS .and. (class == MPI_ERR_ROOT .or. .not. classes_known), &
                   'a root that does not exist')
        call COLL_Ibcast(numbers(1:3:2), 2, MPI_INTEGER, 0, comm, request, code)
        call MPI_Error_class(code, class)
        call MPI_Error_string(code, text, length)
        call check(class == MPI_ERR_BUFFER .or. .not. classes_known, 'a section with gaps')
        call check(index(text, 'COLL_Ibcast: an array section') == 1, 'the text of an error')
        call check(request == COLL_REQUEST_NULL, 'the request of what failed')
        call COLL_Set(comm, 'bcast', 'nonsense', code)
        call MPI_Error_string(code, text, length)
        call check(code /= MPI_SUCCESS .and. index(text, 'nonsense') > 0, 'COLL_Set')
    end subroutine

    subroutine aggregate()
        use, intrinsic :: iso_c_binding
        type(COLL_Pool) :: pool
        type(COLL_Aggregate_stats) :: stats
        integer(c_int64_t), pointer :: value
        integer(c_int64_t), target :: total
        integer :: i, code
        call COLL_Pool_create(8_c_size_t, add, c_null_ptr, pool, code)
        call check(code == MPI_SUCCESS, 'COLL_Pool_create')
        do i = 1, 10
            call COLL_Pool_add(pool, int(mod(i, 4), c_int64_t), int(i, c_int64_t))
        end do
        call COLL_Aggregate(pool, 0, comm, stats)
        call check(stats%peak_bytes > 0, 'statistics')
        if (rank == 0) then
            call check(COLL_Pool_size(pool) == 4, 'the keys')
            call c_f_pointer(COLL_Pool_find(pool, 3_c_int64_t), value)
            call check(value == 10*ranks, 'a value')
            total = 0
            code = COLL_Pool_visit(pool, visit, c_loc(total))
            call check(code == 0 .and. total == 55*ranks, 'all values')
        end if
        call check(.not. c_associated(COLL_Pool_find(pool, 99_c_int64_t)), 'no such key')
        call COLL_Pool_free(pool)
    end subroutine

    subroutine add(into, from, value_bytes, context) bind(C)
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: into, from, context
        integer(c_size_t), value :: value_bytes
        integer(c_int64_t), pointer :: sum, summand
        call c_f_pointer(into, sum)
        call c_f_pointer(from, summand)
        if (value_bytes == 8 .and. .not. c_associated(context)) sum = sum + summand
    end subroutine

    function visit(key, value, context) bind(C) result(stop)
        use, intrinsic :: iso_c_binding
        integer(c_int64_t), value :: key
        type(c_ptr), value :: value, context
        integer(c_int) :: stop
        integer(c_int64_t), pointer :: one, total
        call c_f_pointer(value, one)
        call c_f_pointer(context, total)
        total = total + one
        stop = 0
        if (key < 0) stop = 1
    end function

    logical function all_are(got, expected)
        double precision, intent(in) :: got(:), expected(:)
        all_are = all(got == expected)
    end function
end program
