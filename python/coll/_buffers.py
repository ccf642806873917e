"""What mpi4py takes for a buffer, as the address, the count and the datatype that C takes."""

import itertools

from mpi4py import MPI

from ._library import ffi, handle_of

_memory = MPI.memory if hasattr(MPI, "memory") else MPI.buffer
_null_type = handle_of(MPI.DATATYPE_NULL)
_fromcode = getattr(MPI.Datatype, "fromcode", None) or MPI._typedict.__getitem__


class _Codes(dict):
    """(handle, extent, datatype) by the code that buffers have for their elements."""

    def __missing__(self, code):
        try:
            datatype = _fromcode(code)
        except (KeyError, ValueError):
            raise ValueError(f"no MPI datatype has elements of {code!r}: name one, as in [data, MPI.INT]") from None
        self[code] = handle_of(datatype), datatype.Get_size(), datatype
        return self[code]


_codes = _Codes()
# (handle, extent) by the dtype of numpy's arrays, which is there sooner: those that were met.
_dtypes = {None: None}


def _unpack(message, pairs):
    """Buffer, counts, displacements and datatype of a list: None for what is left out. Counts of one of
    the types PAIRS are counts and displacements."""
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
    """The address of DATA, its bytes, and what keeps it where it is."""
    if data is None or data is MPI.BOTTOM:
        return 0, 0, None
    try:
        memory = _memory(data)
    except (BufferError, ValueError):
        memory = memoryview(data)
        if not memory.f_contiguous:
            raise BufferError("data must be contiguous in memory") from None
    if writable and memory.readonly:
        raise BufferError("data to be written must not be read-only")
    address = data.__array_interface__["data"][0] if type(memory) is memoryview else memory.address
    return address, memory.nbytes, memory


def _type_of(data, datatype):
    """(handle, extent, datatype), by the elements of DATA where DATATYPE is None."""
    if datatype is None:
        return _codes[memoryview(data).format] if data is not None else (_null_type, 0, None)
    if isinstance(datatype, str):
        return _codes[datatype]
    return handle_of(datatype), datatype.extent, datatype


def _elements(bytes, extent, blocks):
    """How many elements each of BLOCKS blocks has."""
    if bytes == 0:
        return 0
    if extent <= 0:
        raise ValueError("the datatype has no extent: give a count")
    count = bytes // extent // blocks
    if count * blocks * extent != bytes:
        raise ValueError(f"{bytes} bytes are no {blocks} block(s) of whole elements of {extent} bytes")
    return count


def simple(message, blocks=1, writable=True):
    """(address, count, type, what to keep) of data that are BLOCKS blocks, of COUNT elements each."""
    dtype = getattr(message, "dtype", None)
    known = _dtypes.get(dtype)
    if known:
        # What most calls have.
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
    if place:
        if not 0 <= place * extent <= bytes:
            raise ValueError(f"displacement {place} is out of the data's bounds")
        address += place * extent
        bytes -= place * extent
    if count is None:
        count = _elements(bytes, extent, blocks)
    return address, count, handle, (kept, datatype)


def _numbers(kind, values, ranks, what):
    try:
        if len(values) != ranks:
            raise ValueError(f"{len(values)} {what} for {ranks} ranks")
        return ffi.new(kind, [int(value) for value in values])
    except TypeError:
        raise TypeError(f"{what} must be a number or a list of them") from None


def vector(message, ranks, writable=True):
    """(address, counts, displacements, type, what to keep) of data with a block for each rank."""
    data, counts, places, datatype = (
        _unpack(message, tuple) if isinstance(message, (list, tuple)) else (message, None, None, None)
    )
    address, bytes, kept = _memory_of(data, writable)
    handle, extent, datatype = _type_of(data, datatype)
    if counts is None:
        each, more = divmod(_elements(bytes, extent, 1), ranks)
        counts = [each + (rank < more) for rank in range(ranks)]
    elif not hasattr(counts, "__len__"):
        counts = [counts] * ranks
    counts = _numbers("long long[]", counts, ranks, "counts")
    if places is None:
        places = [0, *itertools.accumulate(counts)][:ranks]
    elif not hasattr(places, "__len__"):
        places = [rank * places for rank in range(ranks)]
    places = _numbers("ptrdiff_t[]", places, ranks, "displacements")
    return address, counts, places, handle, (kept, counts, places, datatype)


# What stands for data that don't count on a rank, or lie where the result will be.
no_data = 0, 0, _null_type, None
no_vector = 0, ffi.NULL, ffi.NULL, _null_type, None
in_place = int(MPI.IN_PLACE), *no_data[1:]
in_place_vector = int(MPI.IN_PLACE), *no_vector[1:]
