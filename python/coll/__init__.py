# SPDX-License-Identifier: BSD-3-Clause
"""MPI's collectives with libcoll, for programs that use mpi4py:

    from mpi4py import MPI
    import coll

    coll.Bcast(array, root=0, comm=comm)
    request = coll.Iallreduce(MPI.IN_PLACE, array, op=MPI.MAX, comm=comm)
    request.wait()

Every operation has the name and the arguments of mpi4py's method, followed by COMM, which is
MPI.COMM_WORLD by default, except in those among neighbours, which need a topology. Buffers are given as in mpi4py: an array, or [array, MPI.INT],
[array, count, MPI.INT], [array, counts, displacements, MPI.INT], or MPI.IN_PLACE if MPI allows it.
Operations whose names begin with I return a Request with wait() and test(). Those whose names end in _init
also take INFO and return a Request with start(), wait(), test() and free(). Errors raise MPI.Exception.
Arguments that can't be buffers raise TypeError or ValueError; memory that isn't contiguous, or that is
read-only and would be written, raises BufferError.

coll.KMeans clusters the rows of an array.
"""

import functools

from mpi4py import MPI

from ._buffers import (
    in_place,
    in_place_typed_vector,
    in_place_vector,
    no_data,
    no_vector,
    simple,
    typed_vector,
    vector,
)
from ._library import function, handle_of, version
from ._requests import Request, Waitall, check

__version__ = version
__all__ = ["Request", "Set", "Waitall"]

_set = function("COLL_Set", "comm text text")


def __getattr__(name):
    # KMeans needs numpy and another library, so both are loaded only for it.
    if name == "KMeans":
        from ._kmeans import KMeans

        return KMeans
    raise AttributeError(f"module 'coll' has no attribute {name!r}")


def Set(comm, operation, spec):
    """Chooses the algorithm of OPERATION on COMM: Set(comm, "bcast", "chain:segment=32K")."""
    check(_set(handle_of(comm), operation.encode(), spec.encode()))


def _operation(kinds):
    """Makes the blocking, the nonblocking and the persistent call of an operation. The decorated function
    returns the arguments of the C function, which are of KINDS, and the objects to keep alive during the
    operation."""

    def make(arguments):
        name = arguments.__name__
        run = function("COLL_" + name, kinds)
        start = function("COLL_I" + name.lower(), kinds + " request")
        keep = function(f"COLL_{name}_init", kinds + " info request")

        @functools.wraps(arguments)
        def blocking(*given, **named):
            passed, kept = arguments(*given, **named)
            code = run(*passed)
            if code:
                raise MPI.Exception(code)

        def nonblocking(*given, **named):
            passed, kept = arguments(*given, **named)
            return Request(start, passed, kept, False)

        def persistent(*given, info=MPI.INFO_NULL, **named):
            passed, kept = arguments(*given, **named)
            return Request(keep, (*passed, handle_of(info)), kept, True)

        for entry, entry_name, what in (
            (blocking, name, "blocking"),
            (nonblocking, "I" + name.lower(), "nonblocking; returns a Request"),
            (persistent, name + "_init", "persistent; returns a Request to start"),
        ):
            functools.update_wrapper(entry, arguments)
            entry.__name__ = entry.__qualname__ = entry_name
            entry.__doc__ = f"MPI_{entry_name}: {what}."
            globals()[entry_name] = entry
            __all__.append(entry_name)
        return blocking

    return make


def _blocks(comm):
    """Returns the number of blocks in a call on COMM."""
    return comm.Get_remote_size() if comm.is_inter else comm.Get_size()


def _at_root(comm, root):
    """Returns whether this rank has the root's data."""
    return root == MPI.ROOT if comm.is_inter else root == comm.Get_rank()


def _not_root(comm, root):
    """Returns whether this rank has a data block of its own; the root of an intercommunicator has none."""
    return not comm.is_inter or root >= 0


@_operation("comm")
def Barrier(comm=MPI.COMM_WORLD):
    return (handle_of(comm),), None


@_operation("buffer count type root comm")
def Bcast(buf, root=0, comm=MPI.COMM_WORLD):
    address, count, kind, kept = simple(buf, writable=_not_root(comm, root) and not _at_root(comm, root))
    return (address, count, kind, root, handle_of(comm)), kept


# --- Reductions ---


def _reduced(sendbuf, recvbuf):
    """Returns the addresses, count and type of a reduction's data, and the objects to keep alive."""
    into, count, kind, kept = simple(recvbuf)
    if sendbuf is MPI.IN_PLACE:
        return in_place[0], into, count, kind, kept
    address, send_count, send_kind, send_kept = simple(sendbuf, writable=False)
    if send_count != count or send_kind != kind:
        raise ValueError(f"{send_count} elements to send and {count} to receive, or different datatypes")
    return address, into, count, kind, (kept, send_kept)


@_operation("buffer buffer count type op comm")
def Allreduce(sendbuf, recvbuf, op=MPI.SUM, comm=MPI.COMM_WORLD):
    address, into, count, kind, kept = _reduced(sendbuf, recvbuf)
    return (address, into, count, kind, handle_of(op), handle_of(comm)), (kept, op)


@_operation("buffer buffer count type op root comm")
def Reduce(sendbuf, recvbuf, op=MPI.SUM, root=0, comm=MPI.COMM_WORLD):
    if comm.is_inter:
        address, count, kind, kept = simple(sendbuf if root >= 0 else recvbuf, writable=root == MPI.ROOT)
        into = 0 if root >= 0 else address
    elif root == comm.Get_rank():
        address, into, count, kind, kept = _reduced(sendbuf, recvbuf)
    else:
        address, count, kind, kept = simple(sendbuf, writable=False)
        into = 0
    return (address, into, count, kind, handle_of(op), root, handle_of(comm)), (kept, op)


@_operation("buffer buffer count type op comm")
def Scan(sendbuf, recvbuf, op=MPI.SUM, comm=MPI.COMM_WORLD):
    address, into, count, kind, kept = _reduced(sendbuf, recvbuf)
    return (address, into, count, kind, handle_of(op), handle_of(comm)), (kept, op)


@_operation("buffer buffer count type op comm")
def Exscan(sendbuf, recvbuf, op=MPI.SUM, comm=MPI.COMM_WORLD):
    address, into, count, kind, kept = _reduced(sendbuf, recvbuf)
    return (address, into, count, kind, handle_of(op), handle_of(comm)), (kept, op)


@_operation("buffer buffer count type op comm")
def Reduce_scatter_block(sendbuf, recvbuf, op=MPI.SUM, comm=MPI.COMM_WORLD):
    ranks = comm.Get_size()
    if sendbuf is MPI.IN_PLACE:
        address, (into, count, kind, kept) = in_place[0], simple(recvbuf, ranks)
    else:
        into, count, kind, kept = simple(recvbuf)
        address, send_count, send_kind, send_kept = simple(sendbuf, ranks, writable=False)
        if send_count != count or send_kind != kind:
            raise ValueError(
                f"blocks of {send_count} elements to send, and {count} to receive, or different datatypes"
            )
        kept = kept, send_kept
    return (address, into, count, kind, handle_of(op), handle_of(comm)), (kept, op)


@_operation("buffer buffer counts type op comm")
def Reduce_scatter(sendbuf, recvbuf, recvcounts=None, op=MPI.SUM, comm=MPI.COMM_WORLD):
    if recvcounts is None:
        # In place, blocks are as equal as possible; otherwise each rank's receive buffer has its
        # block's size.
        into, count, kind, kept = simple(recvbuf)
        ranks = comm.Get_size()
        if sendbuf is MPI.IN_PLACE:
            recvcounts = [count // ranks + (rank < count % ranks) for rank in range(ranks)]
        else:
            recvcounts = comm.allgather(count)
    if sendbuf is MPI.IN_PLACE:
        address, send_kept = in_place[0], None
        into, counts, _, kind, kept = vector(_with_counts(recvbuf, recvcounts), comm.Get_size())
    else:
        into, count, kind, kept = simple(recvbuf)
        address, counts, _, send_kind, send_kept = vector(
            _with_counts(sendbuf, recvcounts), comm.Get_size(), writable=False
        )
        own = counts[comm.Get_rank()]
        if own > count or send_kind != kind:
            raise ValueError(f"a block of {own} elements, and {count} to receive, or different datatypes")
    return (address, into, counts, kind, handle_of(op), handle_of(comm)), (kept, send_kept, op)


def _with_counts(message, counts):
    """Returns MESSAGE's data and datatype with other counts."""
    if isinstance(message, (list, tuple)):
        datatype = message[-1] if isinstance(message[-1], (MPI.Datatype, str)) else None
        return [message[0], list(counts), datatype]
    return [message, list(counts)]


# --- Data from one rank, or to one ---


@_operation("buffer count type buffer count type root comm")
def Gather(sendbuf, recvbuf, root=0, comm=MPI.COMM_WORLD):
    data, count, kind, kept = _sent(sendbuf) if _not_root(comm, root) else no_data
    into, each, kind_into, kept_into = simple(recvbuf, _blocks(comm)) if _at_root(comm, root) else no_data
    return (data, count, kind, into, each, kind_into, root, handle_of(comm)), (kept, kept_into)


@_operation("buffer count type buffer counts places type root comm")
def Gatherv(sendbuf, recvbuf, root=0, comm=MPI.COMM_WORLD):
    send = _sent(sendbuf) if _not_root(comm, root) else no_data
    receive = vector(recvbuf, _blocks(comm)) if _at_root(comm, root) else no_vector
    return (*send[:3], *receive[:4], root, handle_of(comm)), (send[3], receive[4])


@_operation("buffer count type buffer count type root comm")
def Scatter(sendbuf, recvbuf, root=0, comm=MPI.COMM_WORLD):
    data, each, kind, kept = simple(sendbuf, _blocks(comm), writable=False) if _at_root(comm, root) else no_data
    into, count, kind_into, kept_into = _received(recvbuf) if _not_root(comm, root) else no_data
    return (data, each, kind, into, count, kind_into, root, handle_of(comm)), (kept, kept_into)


@_operation("buffer counts places type buffer count type root comm")
def Scatterv(sendbuf, recvbuf, root=0, comm=MPI.COMM_WORLD):
    send = vector(sendbuf, _blocks(comm), writable=False) if _at_root(comm, root) else no_vector
    receive = _received(recvbuf) if _not_root(comm, root) else no_data
    return (*send[:4], *receive[:3], root, handle_of(comm)), (send[4], receive[3])


def _sent(message, blocks=1):
    return in_place if message is MPI.IN_PLACE else simple(message, blocks, writable=False)


def _received(message):
    return in_place if message is MPI.IN_PLACE else simple(message)


# --- Data from all to all ---


@_operation("buffer count type buffer count type comm")
def Allgather(sendbuf, recvbuf, comm=MPI.COMM_WORLD):
    data, count, kind, kept = _sent(sendbuf)
    into, each, kind_into, kept_into = simple(recvbuf, _blocks(comm))
    return (data, count, kind, into, each, kind_into, handle_of(comm)), (kept, kept_into)


@_operation("buffer count type buffer counts places type comm")
def Allgatherv(sendbuf, recvbuf, comm=MPI.COMM_WORLD):
    send, receive = _sent(sendbuf), vector(recvbuf, _blocks(comm))
    return (*send[:3], *receive[:4], handle_of(comm)), (send[3], receive[4])


@_operation("buffer count type buffer count type comm")
def Alltoall(sendbuf, recvbuf, comm=MPI.COMM_WORLD):
    ranks = _blocks(comm)
    data, count, kind, kept = _sent(sendbuf, ranks)
    into, each, kind_into, kept_into = simple(recvbuf, ranks)
    return (data, count, kind, into, each, kind_into, handle_of(comm)), (kept, kept_into)


@_operation("buffer counts places type buffer counts places type comm")
def Alltoallv(sendbuf, recvbuf, comm=MPI.COMM_WORLD):
    ranks = _blocks(comm)
    send = in_place_vector if sendbuf is MPI.IN_PLACE else vector(sendbuf, ranks, writable=False)
    receive = vector(recvbuf, ranks)
    return (*send[:4], *receive[:4], handle_of(comm)), (send[4], receive[4])


@_operation("buffer counts places types buffer counts places types comm")
def Alltoallw(sendbuf, recvbuf, comm=MPI.COMM_WORLD):
    ranks = _blocks(comm)
    send = in_place_typed_vector if sendbuf is MPI.IN_PLACE else typed_vector(sendbuf, ranks, writable=False)
    receive = typed_vector(recvbuf, ranks)
    return (*send[:4], *receive[:4], handle_of(comm)), (send[4], receive[4])


# --- Among the neighbours of a topology ---


@_operation("buffer count type buffer count type comm")
def Neighbor_allgather(sendbuf, recvbuf, comm):
    data, count, kind, kept = simple(sendbuf, writable=False)
    into, each, kind_into, kept_into = simple(recvbuf, comm.indegree or 1)
    return (data, count, kind, into, each, kind_into, handle_of(comm)), (kept, kept_into)


@_operation("buffer count type buffer counts places type comm")
def Neighbor_allgatherv(sendbuf, recvbuf, comm):
    send, receive = simple(sendbuf, writable=False), vector(recvbuf, comm.indegree)
    return (*send[:3], *receive[:4], handle_of(comm)), (send[3], receive[4])


@_operation("buffer count type buffer count type comm")
def Neighbor_alltoall(sendbuf, recvbuf, comm):
    data, count, kind, kept = simple(sendbuf, comm.outdegree or 1, writable=False)
    into, each, kind_into, kept_into = simple(recvbuf, comm.indegree or 1)
    return (data, count, kind, into, each, kind_into, handle_of(comm)), (kept, kept_into)


@_operation("buffer counts places type buffer counts places type comm")
def Neighbor_alltoallv(sendbuf, recvbuf, comm):
    send = vector(sendbuf, comm.outdegree, writable=False)
    receive = vector(recvbuf, comm.indegree)
    return (*send[:4], *receive[:4], handle_of(comm)), (send[4], receive[4])


@_operation("buffer counts places types buffer counts places types comm")
def Neighbor_alltoallw(sendbuf, recvbuf, comm):
    send = typed_vector(sendbuf, comm.outdegree, writable=False)
    receive = typed_vector(recvbuf, comm.indegree)
    return (*send[:4], *receive[:4], handle_of(comm)), (send[4], receive[4])
