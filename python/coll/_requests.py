# SPDX-License-Identifier: BSD-3-Clause
"""Requests of nonblocking and persistent operations."""

from mpi4py import MPI

from ._library import ffi, function

_start = function("COLL_Start", "request")
_wait = function("COLL_Wait", "request")
_test = function("COLL_Test", "request flag")
_free = function("COLL_Request_free", "request")

# Requests in progress, and those that failed. Messages may still write to their buffers, which must
# therefore stay alive even if the program drops the request.
_active = set()


def check(code):
    """Raises an exception if CODE is an error."""
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)


class Request:
    """A nonblocking operation until it is complete, or a persistent one until it is freed. Keeps the
    operation's buffers alive."""

    def __init__(self, start, passed, kept, persistent):
        self._request = ffi.new("void *[1]")
        check(start(*passed, self._request))
        self._kept = kept
        if not persistent:
            _active.add(self)

    def __bool__(self):
        """Returns whether the request can still be waited for, started or freed."""
        return self._request[0] != ffi.NULL

    def start(self):
        """Starts a persistent operation."""
        check(_start(self._request))
        _active.add(self)

    def wait(self):
        """Waits until the operation is complete; a persistent one may then be started again."""
        code = _wait(self._request)
        check(code)
        self._complete()

    def test(self):
        """Returns whether the operation is complete, without waiting."""
        flag = ffi.new("int *")
        code = _test(self._request, flag)
        check(code)
        if flag[0]:
            self._complete()
        return bool(flag[0])

    def free(self):
        """Frees a persistent operation that is not in progress."""
        check(_free(self._request))
        self._kept = None

    def _complete(self):
        _active.discard(self)
        if not self:
            self._kept = None


def Waitall(requests):
    """Waits for all REQUESTS, and raises the first error."""
    first = None
    for request in requests:
        try:
            request.wait()
        except MPI.Exception as error:
            first = first or error
    if first:
        raise first
