# SPDX-License-Identifier: BSD-3-Clause
"""The Python package: every operation, blocking, nonblocking and persistent, leaves what mpi4py's own
leaves, with buffers in every form that mpi4py takes. Then requests, and what is refused."""

import array
import functools
import gc
import sys
import weakref

import coll
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD.Dup()
rank, ranks = comm.rank, comm.size
failures = 0


def check(right, what):
    global failures
    if not right:
        print(f"FAILED on rank {rank}: {what}")
        failures += 1


def blocking(name, *given, **named):
    getattr(coll, name)(*given, **named)


def nonblocking(name, *given, **named):
    request = getattr(coll, "I" + name.lower())(*given, **named)
    check(request, "a request")
    request.wait()
    check(not request, "a request that is complete")


def persistent(name, *given, starts=2, **named):
    request = getattr(coll, name + "_init")(*given, info=MPI.INFO_NULL, **named)
    for _ in range(starts):
        request.start()
        while not request.test():
            pass
        check(request, "a persistent request")
    request.free()
    check(not request, "a request that was freed")


ways = blocking, nonblocking, persistent
# Data in place changes with each start, so it is started once.
ways_in_place = blocking, nonblocking, functools.partial(persistent, starts=1)


def compare(name, make, ways=ways, comm=comm):
    """MAKE() returns the buffer to compare, followed by the arguments of operation NAME."""
    expected, *given = make()
    getattr(comm, name)(*given)
    for way in ways:
        got, *given = make()
        way(name, *given, comm=comm)
        check((got == expected).all(), f"{name}, {way}")


def mine(count=3, dtype="f8"):
    return (numpy.arange(count) * 7 + rank * 3 % 5).astype(dtype)


def space(count, dtype="f8"):
    return numpy.full(count, -1, dtype)


def choose():
    """Algorithms of libcoll: on one host the MPI library's own would run."""
    for operation, spec in (
        ("bcast", "binomial"),
        ("gather", "linear"),
        ("allreduce", "ring"),
        ("reduce", "chain"),
        ("reduce_scatter", "ring"),
        ("allgather", "ring"),
        ("alltoall", "pairwise"),
        ("scatter", "straight"),
        ("barrier", "dissemination"),
        ("scan", "linear"),
        ("exscan", "linear"),
    ):
        coll.Set(comm, operation, spec)


def even():
    def bcast():
        data = mine()
        return data, data, ranks - 1

    def to(count, *more):
        def make():
            result = space(count)
            return result, mine(), result, *more

        return make

    compare("Bcast", bcast)
    compare("Gather", to(3 * ranks, 0))
    compare("Allgather", to(3 * ranks))
    compare("Allreduce", to(3, MPI.MAX))
    compare("Allreduce", to(3))
    compare("Reduce", to(3, MPI.PROD, ranks - 1))
    compare("Scan", to(3))
    compare("Exscan", to(3))

    def spread(per_rank, into):
        def make(*more):
            result = space(into)
            return result, mine(per_rank * ranks), result, *more

        return make

    compare("Scatter", spread(2, 2))
    compare("Alltoall", spread(2, 2 * ranks))
    compare("Reduce_scatter_block", spread(2, 2))
    compare("Reduce_scatter", spread(1, 1))
    for way in ways:
        way("Barrier", comm=comm)


def uneven():
    """Rank r has r + 1 elements; one lies between the blocks."""
    counts = [i + 1 for i in range(ranks)]
    places = [sum(counts[:i]) + i for i in range(ranks)]
    total = sum(counts) + ranks

    def gathered(*more):
        def make():
            result = space(total, "i4")
            return result, mine(rank + 1, "i4"), [result, counts, places, MPI.INT], *more

        return make

    def scattered():
        result = space(rank + 1, "i4")
        return result, [mine(total, "i4"), (counts, places), MPI.INT], result

    def exchanged():
        result = space(ranks * (rank + 1), "i4")
        return result, [mine(total, "i4"), counts, places, "i"], [result, [rank + 1] * ranks]

    def exchanged_typed():
        result = space(ranks * (rank + 1), "i4")
        blocks = [MPI.INT.Create_contiguous(i + 1).Commit() for i in range(ranks)]
        given = [mine(total, "i4"), [1] * ranks, [4 * place for place in places], blocks]
        lists = [rank + 1] * ranks, [4 * (rank + 1) * i for i in range(ranks)]
        return result, given, [result, lists, [MPI.INT] * ranks]

    def reduced():
        result = space(rank + 1, "i4")
        return result, mine(sum(counts), "i4"), result, counts

    compare("Gatherv", gathered(ranks - 1))
    compare("Allgatherv", gathered())
    compare("Scatterv", scattered)
    compare("Alltoallv", exchanged)
    compare("Alltoallw", exchanged_typed)
    compare("Reduce_scatter", reduced)

    def by_default():
        result = space(ranks + 1)
        return result, mine(2 if rank == 0 else 1), result

    compare("Allgatherv", by_default)


def in_place():
    def reduced(*more):
        def make():
            data = mine(ranks)
            return data, MPI.IN_PLACE, data, *more

        return make

    compare("Allreduce", reduced(), ways_in_place)
    compare("Allgather", reduced(), ways_in_place)
    compare("Allgatherv", reduced(), ways_in_place)
    compare("Alltoall", reduced(), ways_in_place)
    compare("Alltoallv", reduced(), ways_in_place)

    def typed():
        data = mine(ranks)
        return data, MPI.IN_PLACE, [data, [1] * ranks, [8 * i for i in range(ranks)], [MPI.DOUBLE] * ranks]

    compare("Alltoallw", typed, ways_in_place)
    compare("Scan", reduced(), ways_in_place)
    compare("Reduce_scatter_block", reduced(), ways_in_place)

    def at_root():
        data = mine(ranks)
        return data, MPI.IN_PLACE if rank == 0 else data, data if rank == 0 else None

    compare("Reduce", at_root, ways_in_place)

    def gathered():
        data = mine(ranks)
        return data, MPI.IN_PLACE if rank == 0 else data[:1], data if rank == 0 else None

    compare("Gather", gathered, ways_in_place)

    def scattered():
        data = mine(ranks)
        return data, data if rank == 0 else None, MPI.IN_PLACE if rank == 0 else data[:1]

    compare("Scatter", scattered, ways_in_place)


def forms():
    """The forms of one buffer."""
    pair = MPI.DOUBLE.Create_vector(2, 1, 2).Commit()
    for form in (
        lambda data: data,
        lambda data: [data, MPI.DOUBLE],
        lambda data: [data, "d"],
        lambda data: (data, 4),
        lambda data: [data, 2, MPI.DOUBLE],
        lambda data: [data, (2, 1), MPI.DOUBLE],
        lambda data: [data, 3, 1, MPI.DOUBLE],
        lambda data: [data, 1, pair],
        lambda data: memoryview(data),
        lambda data: numpy.asfortranarray(data.reshape(2, 2).T),
    ):
        expected, got = mine(4), mine(4)
        comm.Bcast(form(expected))
        coll.Bcast(form(got), comm=comm)
        check((got == expected).all(), f"a buffer {form(got)}")
    pair.Free()
    for make in (
        lambda: array.array("i", [rank, 1]),
        lambda: bytearray([rank, 2]),
        lambda: numpy.array([rank + 1j]),
        lambda: numpy.array([rank == 0]),
        lambda: numpy.array([], "f4"),
    ):
        data = make()
        coll.Bcast(data, comm=comm)
        expected = comm.bcast(make())
        check(bytes(data) == bytes(expected), f"a buffer {expected}")
    message = b"constant" if rank == 0 else bytearray(8)
    coll.Bcast(message, comm=comm)
    check(bytes(message) == b"constant", "bytes at the root")


def requests():
    """A program may drop a request or its buffers before the operation is complete."""
    given, sums = [numpy.full(1000, float(rank + i)) for i in range(20)], [space(1000) for i in range(20)]
    started = [coll.Iallreduce(a.copy(), b, comm=comm) for a, b in zip(given, sums)]
    gc.collect()
    coll.Waitall(started)
    check(all((b == sum(range(ranks)) + i * ranks).all() for i, b in enumerate(sums)), "waitall")
    coll.Ibcast(numpy.zeros(1000), comm=comm)
    coll.Ibarrier(comm=comm).wait()
    gc.collect()
    coll.Bcast(numpy.zeros(1), comm=comm)


def refused():
    def raises(kind, text, call, *given, **named):
        try:
            call(*given, **named)
        except kind as error:
            check(text in str(error), f"{kind.__name__} says {error}, not {text}")
        else:
            check(False, f"no {kind.__name__} of {text}")

    data = mine(4)
    frozen = mine(4)
    frozen.flags.writeable = False
    raises(MPI.Exception, "root", coll.Bcast, data, root=ranks, comm=comm)
    raises(MPI.Exception, "root", coll.Ibcast, data, root=ranks, comm=comm)
    raises(MPI.Exception, "root", coll.Bcast_init, data, root=ranks, comm=comm)
    raises(MPI.Exception, "nonsense", coll.Set, comm, "bcast", "nonsense")
    raises(TypeError, "int", coll.Bcast, 5, comm=comm)
    raises(BufferError, "read-only", coll.Allreduce, data, frozen, comm=comm)
    raises(BufferError, "contiguous", coll.Bcast, mine(8).reshape(4, 2)[:, 0], comm=comm)
    raises(ValueError, "no MPI datatype", coll.Bcast, numpy.zeros(2, "f2"), comm=comm)
    raises(ValueError, "4 elements to send and 3", coll.Allreduce, data, mine(3), comm=comm)
    raises(ValueError, "whole elements", coll.Bcast, [data, MPI.INT.Create_contiguous(3).Commit()], comm=comm)
    raises(ValueError, "of data of 32", coll.Bcast, [data, (1, 9), MPI.DOUBLE], comm=comm)
    raises(ValueError, "counts for", coll.Allgatherv, data, [mine(9), [1] * (ranks + 1)], comm=comm)
    raises(ValueError, "expecting", coll.Bcast, [data, 1, 0, MPI.DOUBLE, 5], comm=comm)
    request = coll.Barrier_init(comm=comm)
    request.start()
    raises(MPI.Exception, "active", request.start)
    request.wait()
    request.free()


def memory():
    """Nothing is written to memory that is read-only, and nothing is read or written outside of it. Each call
    here must be refused by all ranks, or need the root alone."""

    def raises(kind, text, name, *given, **named):
        for entry in (name, "I" + name.lower(), name + "_init"):
            try:
                getattr(coll, entry)(*given, **named, comm=comm)
            except kind as error:
                check(text in str(error), f"{entry}: {kind.__name__} says {error}, not {text}")
            else:
                check(False, f"{entry}: no {kind.__name__} of {text}")

    def frozen(count):
        data = mine(count)
        data.flags.writeable = False
        return data

    nobody = ranks  # as a root: every rank receives
    for constant in (frozen(4), b"constant", memoryview(b"constant")):
        before = bytes(constant)
        raises(BufferError, "read-only", "Bcast", constant, root=nobody)
        check(bytes(constant) == before, "a constant that is received into")
    read_only = frozen(3)
    if rank > 0:
        read_only = space(3)
    for way in ways:
        way("Bcast", read_only, root=0, comm=comm)
        check((read_only == numpy.arange(3) * 7).all(), "a root that sends what is read-only")

    full, one = ranks * 3, [1] * ranks
    raises(BufferError, "read-only", "Gather", mine(3), frozen(full), root=rank)
    raises(BufferError, "read-only", "Gatherv", mine(3), frozen(full), root=rank)
    raises(BufferError, "read-only", "Scatter", mine(full), frozen(3))
    raises(BufferError, "read-only", "Scatterv", mine(full), frozen(3))
    raises(BufferError, "read-only", "Reduce", mine(3), frozen(3), root=rank)
    for name in ("Allreduce", "Scan", "Exscan"):
        raises(BufferError, "read-only", name, mine(3), frozen(3))
    for name in ("Allgather", "Allgatherv"):
        raises(BufferError, "read-only", name, mine(3), frozen(full))
    for name in ("Alltoall", "Alltoallv"):
        raises(BufferError, "read-only", name, mine(full), frozen(full))
    raises(BufferError, "read-only", "Reduce_scatter_block", mine(full), frozen(3))
    raises(BufferError, "read-only", "Reduce_scatter", mine(full), frozen(3), [3] * ranks)

    data = mine(3)
    pair = MPI.DOUBLE.Create_vector(2, 1, 2).Commit()  # takes three doubles
    before = MPI.DOUBLE.Create_hindexed([1], [-8]).Commit()
    wide = MPI.DOUBLE.Create_resized(0, 16).Commit()  # two take three doubles
    backwards = MPI.DOUBLE.Create_resized(0, -8).Commit()
    for wrong in (
        [data, 1000000, MPI.DOUBLE],
        [data, 2**62, MPI.DOUBLE],
        [data, 4, MPI.DOUBLE],
        [data, (3, 1), MPI.DOUBLE],
        [data, (1, -1), MPI.DOUBLE],
        [data, 2, pair],
        [data, 1, before],
        [data, 3, wide],
        [data, 2, backwards],
    ):
        raises(ValueError, "of data of 24", "Bcast", wrong)
        raises(ValueError, "of data of 24", "Allreduce", MPI.IN_PLACE, wrong)
        raises(ValueError, "of data of 24", "Gather", wrong, space(3 * ranks), root=rank)
    for way in ways:
        way("Bcast", [data, 2, wide], comm=comm)
    raises(ValueError, "negative", "Bcast", [data, -1, MPI.DOUBLE])
    raises(ValueError, "no data", "Bcast", [None, 1, MPI.DOUBLE])
    raises(TypeError, "whole number", "Bcast", [data, 1.5, MPI.DOUBLE])
    raises(ValueError, "elements to send", "Allreduce", data, None)
    raises(ValueError, "different datatypes", "Reduce_scatter_block", mine(ranks), space(1, "i8"))
    raises(ValueError, "different datatypes", "Reduce_scatter", mine(ranks), space(1, "i8"), one)
    raises(ValueError, "to receive", "Reduce_scatter", mine(2 * ranks), space(1), [2] * ranks)
    raises(ValueError, "of data of", "Reduce_scatter", mine(ranks), space(2), [2] * ranks)
    raises(ValueError, "of data of", "Allgather", data, [space(ranks), 3, MPI.DOUBLE])

    short = space(ranks)
    for wrong, text, *kind in (
        ([short, 2, MPI.DOUBLE], "of data of"),
        ([short, (one, [1] * (ranks - 1) + [ranks])], "of data of"),
        ([short, (one, [-1] * ranks)], "of data of"),
        ([short, [-1] * ranks], "negative"),
        ([short, [2**63] * ranks], "64 bits"),
        ([short, (one, [0.5] * ranks)], "whole number", TypeError),
    ):
        kind = kind or [ValueError]
        raises(*kind, text, "Allgatherv", mine(1), wrong)
        raises(*kind, text, "Alltoallv", wrong, space(ranks))
        raises(*kind, text, "Alltoallv", mine(ranks), wrong)
        if len(wrong) == 2 and isinstance(wrong[1], tuple):
            counts, places = wrong[1]
            typed = [short, (counts, [8 * place for place in places]), [MPI.DOUBLE] * ranks]
            raises(*kind, text, "Alltoallw", typed, [space(ranks), [MPI.DOUBLE] * ranks])
        raises(*kind, text, "Gatherv", mine(1), wrong, root=rank)
        raises(*kind, text, "Scatterv", wrong, space(1), root=rank)

    # A persistent request's buffers live as long as it does, even if the program drops it when it is started.
    data = mine(1000)
    freed = weakref.finalize(data, lambda: None)
    request = coll.Bcast_init(data, comm=comm)
    del data
    gc.collect()
    check(freed.alive, "the buffer of a persistent request")
    request.start()
    del request
    gc.collect()
    check(freed.alive, "the buffer of a request that was dropped")
    coll.Barrier(comm=comm)
    for datatype in (pair, before, wide, backwards):
        datatype.Free()


def between_groups():
    """Two groups; the first rank of the first one is the root."""
    if ranks == 1:
        return
    first = rank % 2 == 0
    inter = comm.Split(first).Create_intercomm(0, comm, 1 if first else 0)
    root = (MPI.ROOT if inter.rank == 0 else MPI.PROC_NULL) if first else 0
    data, expected = mine(inter.remote_size), mine(inter.remote_size)
    inter.Bcast(expected, root)
    coll.Bcast(data, root, inter)
    check((data == expected).all(), "Bcast between groups")
    got, expected = space(2 * inter.remote_size), space(2 * inter.remote_size)
    inter.Allgather(mine(2), expected)
    coll.Allgather(mine(2), got, inter)
    check((got == expected).all(), "Allgather between groups")
    inter.Gather(mine(2), expected, root)
    coll.Gather(mine(2), got, root, inter)
    check((got == expected).all(), "Gather between groups")
    inter.Reduce(mine(2), expected[:2], MPI.SUM, root)
    coll.Reduce(mine(2), got[:2], MPI.SUM, root, inter)
    check((got == expected).all(), "Reduce between groups")


def among_neighbors():
    ring = comm.Create_cart([ranks], [True])
    before, behind = ring.Shift(0, 1)
    for operation in "neighbor_allgather", "neighbor_alltoall":
        coll.Set(ring, operation, "linear")

    def gathered():
        result = space(4)
        return result, mine(2), result

    def exchanged():
        result = space(4)
        return result, mine(4), result

    def lists(*of):
        return [[one % 3 for one in of], [3, 0], MPI.INT]

    def gathered_unevenly():
        result = space(6, "i4")
        return result, mine(rank % 3, "i4"), [result, *lists(before, behind)]

    def exchanged_unevenly():
        result = space(6, "i4")
        counts = lists(rank + before, rank + behind)
        return result, [mine(6, "i4"), *counts], [result, *counts]

    compare("Neighbor_allgather", gathered, comm=ring)
    compare("Neighbor_alltoall", exchanged, comm=ring)
    compare("Neighbor_allgatherv", gathered_unevenly, comm=ring)
    compare("Neighbor_alltoallv", exchanged_unevenly, comm=ring)

    def exchanged_typed():
        result = space(6, "i4")
        lists = [(rank + one) % 3 for one in (before, behind)], [12, 0], [MPI.INT, MPI.INT]
        return result, [mine(6, "i4"), *lists], [result, *lists]

    compare("Neighbor_alltoallw", exchanged_typed, comm=ring)
    ring.Free()
    alone = comm.Create_dist_graph_adjacent([], [])  # without neighbours
    coll.Neighbor_allgatherv(mine(2), space(0), comm=alone)
    coll.Neighbor_alltoallv(mine(0), space(0), comm=alone)
    alone.Free()


choose()
even()
uneven()
in_place()
among_neighbors()
forms()
requests()
between_groups()
refused()
memory()
check(coll.__version__.count(".") == 2, "the version")
sys.exit(1 if comm.allreduce(failures) else 0)
