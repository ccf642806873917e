# SPDX-License-Identifier: BSD-3-Clause
"""Converts mpi4py's buffer arguments to the address, count and datatype for C."""

import itertools
import operator

from mpi4py import MPI

from ._library import ffi, handle_of, handle_type

_memory = MPI.memory if hasattr(MPI, "memory") else MPI.buffer
_null_type = handle_of(MPI.DATATYPE_NULL)
_fromcode = getattr(MPI.Datatype, "fromcode", None) or MPI._typedict.__getitem__


class _Codes(dict):
    """Maps buffers' codes for their element types to (handle, extent, datatype)."""

    def __missing__(self, code):
        try:
            datatype = _fromcode(code)
        except (KeyError, ValueError):
            raise ValueError(f"no MPI datatype has elements of {code!r}: name one, as in [data, MPI.INT]") from None
        self[code] = handle_of(datatype), datatype.Get_size(), datatype
        return self[code]


_codes = _Codes()
# Maps numpy's dtypes, which are faster to get than codes, to (handle, extent); filled as dtypes
# occur.
_dtypes = {None: None}


def _unpack(message, pairs):
    """Returns the buffer, counts, displacements and datatype in a list; None for missing ones. If the counts
    are of one of the types PAIRS, they are a pair of counts and displacements."""
    counts = places = datatype = None
    length = len(message)
    if length == 2:
        data, counts = message
        if isinstance(counts, (MPI.Datatype, str)):
            return data, None, None, counts
    elif length == 3:
        data, counts, datatype = message
    elif length == 4:
        return message
    else:
        raise ValueError("expecting a buffer, or a list of 2 to 4: [data, count(s), displacement(s), type]")
    if isinstance(counts, pairs):
        counts, places = counts
    return data, counts, places, datatype


def _memory_of(data, writable):
    """Returns the address of DATA, its bytes, and an object that keeps it in memory."""
    if data is None or data is MPI.BOTTOM:
        return 0, 0, None
    try:
        memory = _memory(data)
    except (BufferError, ValueError):
        memory = memoryview(data)
        if not memory.f_contiguous:
            raise BufferError("data must be contiguous in memory") from None
    if writable and memory.readonly:
        raise BufferError("data to receive into must not be read-only")
    if type(memory) is not memoryview:
        return memory.address, memory.nbytes, memory
    if not hasattr(data, "__array_interface__"):
        raise BufferError("data in Fortran's order must be an array of numpy")
    address = data.__array_interface__["data"][0]
    return address, memory.nbytes, memory


def _type_of(data, datatype):
    """Returns (handle, extent, datatype) of DATATYPE, or of DATA's elements if DATATYPE is None."""
    if datatype is None:
        return _codes[memoryview(data).format] if data is not None else (_null_type, 0, MPI.DATATYPE_NULL)
    if isinstance(datatype, str):
        return _codes[datatype]
    return handle_of(datatype), datatype.extent, datatype


def _elements(bytes, extent, blocks):
    """Returns the number of elements in each of BLOCKS blocks."""
    if bytes == 0:
        return 0
    if extent <= 0:
        raise ValueError("the datatype has no extent: give a count")
    count = bytes // extent // blocks
    if count * blocks * extent != bytes:
        raise ValueError(f"{bytes} bytes are no {blocks} block(s) of whole elements of {extent} bytes")
    return count


def _check_fits(data, bytes, datatype, first, count, offset=0):
    """Raises ValueError unless DATA of BYTES has room for COUNT elements from element FIRST on, if element 0
    is OFFSET bytes behind its begin. Addresses relative to MPI.BOTTOM can't be checked."""
    if count < 0:
        raise ValueError(f"{count} elements: counts must not be negative")
    if count == 0 or data is MPI.BOTTOM:
        return
    if data is None:
        raise ValueError(f"no data for {count} elements")
    extent, last = datatype.extent, first + count - 1
    begin = min(first * extent, last * extent) + offset + datatype.true_lb
    end = max(first * extent, last * extent) + offset + datatype.true_ub
    if begin < 0 or end > bytes:
        raise ValueError(
            f"{count} elements from number {first} on take the bytes {begin} to {end} of data of {bytes}"
        )


def simple(message, blocks=1, writable=True):
    """Returns (address, count, type, objects to keep alive) of data in BLOCKS blocks of COUNT elements each."""
    dtype = getattr(message, "dtype", None)
    known = _dtypes.get(dtype)
    if known:
        # The usual case, kept fast.
        address, bytes, kept = _memory_of(message, writable)
        handle, extent = known
        count = bytes // extent
        if blocks != 1:
            count = _elements(bytes, extent, blocks)
        return address, count, handle, kept
    data, count, place, datatype = (
        _unpack(message, (tuple, list)) if isinstance(message, (list, tuple)) else (message, None, None, None)
    )
    address, bytes, kept = _memory_of(data, writable)
    handle, extent, datatype = _type_of(data, datatype)
    if dtype is not None:
        _dtypes[dtype] = handle, extent
    place = 0 if place is None else _whole(place, "displacement")
    if count is None:
        if not 0 <= place * extent <= bytes:
            raise ValueError(f"displacement {place} is out of the data's bounds")
        count = _elements(bytes - place * extent, extent, blocks)
    count = _whole(count, "count")
    _check_fits(data, bytes, datatype, place, count * blocks)
    return address + place * extent, count, handle, (kept, datatype)


def _whole(number, what):
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"a {what} must be a whole number, not {number!r}") from None


def _numbers(kind, values, ranks, what):
    try:
        if len(values) != ranks:
            raise ValueError(f"{len(values)} {what} for {ranks} ranks")
        return ffi.new(kind, [operator.index(value) for value in values])
    except OverflowError:
        raise ValueError(f"{what} must not be longer than 64 bits") from None
    except TypeError:
        raise TypeError(f"{what} must be a whole number or a list of them") from None


def vector(message, ranks, writable=True):
    """Returns (address, counts, displacements, type, objects to keep alive) of data with a block for each rank."""
    data, counts, places, datatype = (
        _unpack(message, tuple) if isinstance(message, (list, tuple)) else (message, None, None, None)
    )
    address, bytes, kept = _memory_of(data, writable)
    handle, extent, datatype = _type_of(data, datatype)
    if counts is None:
        each, more = divmod(_elements(bytes, extent, 1), ranks or 1)  # a rank may have no neighbours
        counts = [each + (rank < more) for rank in range(ranks)]
    elif not hasattr(counts, "__len__"):
        counts = [counts] * ranks
    counts = _numbers("long long[]", counts, ranks, "counts")
    if places is None:
        places = [0, *itertools.accumulate(counts)][:ranks]
    elif not hasattr(places, "__len__"):
        places = [rank * places for rank in range(ranks)]
    places = _numbers("ptrdiff_t[]", places, ranks, "displacements")
    for place, count in zip(places, counts):
        _check_fits(data, bytes, datatype, place, count)
    return address, counts, places, handle, (kept, counts, places, datatype)


def typed_vector(message, ranks, writable=True):
    """Returns (address, counts, displacements in bytes, types, objects to keep alive) of data with a block and a
    datatype for each rank: [data, types], [data, (counts, displacements), types] or [data, counts,
    displacements, types]."""
    if not isinstance(message, (list, tuple)) or not 2 <= len(message) <= 4:
        raise ValueError("expecting a list of 2 to 4: [data, counts, displacements, types]")
    data, *lists, types = message
    counts, places = lists if len(lists) == 2 else lists[0] if lists else ([1] * ranks, [0] * ranks)
    counts = _numbers("long long[]", counts, ranks, "counts")
    places = _numbers("ptrdiff_t[]", places, ranks, "displacements")
    if len(types) != ranks:
        raise ValueError(f"{len(types)} types for {ranks} ranks")
    address, bytes, kept = _memory_of(data, writable)
    for place, count, datatype in zip(places, counts, types):
        _check_fits(data, bytes, datatype, 0, count, place)
    handles = ffi.new(f"{handle_type}[]", [handle_of(datatype) for datatype in types])
    return address, counts, places, handles, (kept, counts, places, handles, list(types))


# Placeholders for data that are not significant on a rank, or are in the receive buffer (in place).
no_data = 0, 0, _null_type, None
no_vector = 0, ffi.NULL, ffi.NULL, _null_type, None
_in_place = int(MPI.IN_PLACE) % 2 ** (8 * ffi.sizeof("void *"))  # MPICH's is -1
in_place = _in_place, *no_data[1:]
in_place_vector = _in_place, *no_vector[1:]
in_place_typed_vector = _in_place, ffi.NULL, ffi.NULL, ffi.NULL, None
