# SPDX-License-Identifier: BSD-3-Clause
"""Loads libcoll: the file named by COLL_LIBRARY, else the one in this package, which wheels have, or else the
one that the loader finds."""

import os

import cffi
from mpi4py import MPI

NAME = "libcoll.so.0"
_IN_WHEEL = os.path.join(os.path.dirname(__file__), "lib", NAME)

ffi = cffi.FFI()
ffi.cdef("const char *COLL_Version(void); int MPI_Get_library_version(char *, int *);")


def _mpi_of(library):
    """Returns an address in the MPI library that LIBRARY calls, and the beginning of its version text."""
    get_version = ffi.addressof(library, "MPI_Get_library_version")
    text, length = ffi.new("char[]", 1 << 14), ffi.new("int *")
    get_version(text, length)
    version = ffi.string(text).decode(errors="replace")
    return get_version, version.splitlines()[0].split(",")[0].strip()


def _check_mpi(library, name):
    """Raises ImportError unless libcoll calls the same MPI library as mpi4py, whose handles it gets."""
    (ours, our_version), (theirs, their_version) = _mpi_of(library), _mpi_of(ffi.dlopen(MPI.__file__))
    if ours != theirs:
        raise ImportError(
            f"coll: {name} was built with {our_version}, and mpi4py with {their_version}: "
            "build libcoll with the mpicc of mpi4py, or name one that was by COLL_LIBRARY"
        )


def _load(name):
    try:
        # libcoll is called until the end of MPI_Finalize, when Python has already released it.
        library = ffi.dlopen(name, os.RTLD_NOW | os.RTLD_NODELETE)
    except OSError as error:
        remedy = f"COLL_LIBRARY names the file {NAME}, LD_LIBRARY_PATH its folder"
        if name == _IN_WHEEL:
            remedy = "the wheel is for another MPI library or a newer system; build one here by make wheel"
        raise ImportError(f"coll: {error}; {remedy}") from None
    try:
        library.COLL_Version
    except AttributeError:
        raise ImportError(f"coll: {name} is not libcoll; COLL_LIBRARY names the file {NAME}") from None
    _check_mpi(library, name)
    return library


path = os.environ.get("COLL_LIBRARY") or (_IN_WHEEL if os.path.exists(_IN_WHEEL) else NAME)
_library = _load(path)
version = ffi.string(_library.COLL_Version()).decode()

# The type of MPI's handles: pointers or ints, depending on the MPI library.
if MPI._sizeof(MPI.COMM_WORLD) == ffi.sizeof("void *"):
    handle_type, handle_of = "uintptr_t", MPI._handleof
else:
    handle_type = "unsigned int"

    def handle_of(of):
        return MPI._handleof(of) & 0xFFFFFFFF


# The types of the C functions' parameters. Addresses of buffers are passed as numbers.
_kinds = {
    "buffer": "uintptr_t",
    "count": "long long",
    "counts": "const long long *",
    "places": "const ptrdiff_t *",
    "type": handle_type,
    "types": f"const {handle_type} *",
    "op": handle_type,
    "comm": handle_type,
    "info": handle_type,
    "root": "int",
    "text": "const char *",
    "request": "void **",
    "flag": "int *",
}


def function(name, kinds):
    """Returns the C function NAME; KINDS lists its parameters' kinds."""
    ffi.cdef(f"int {name}({', '.join(_kinds[kind] for kind in kinds.split())});")
    return getattr(_library, name)
