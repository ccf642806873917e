#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests after programs.sh. Sets $python to an interpreter that has the needs of the Python
# package, with libcoll's MPI library; otherwise skips the test.
# shellcheck disable=SC2154 # build and source_dir are theirs
[ -e "$build/.libs/libcoll.so.0" ] || {
    echo "skipped: Python, for want of a shared libcoll"
    exit 77
}
for python in ${PYTHON:-} python3 /usr/bin/python3 ''; do
    [ -n "$python" ] && "$python" -c 'import cffi, mpi4py, numpy' 2>/dev/null && break
done
[ -n "$python" ] || {
    echo "skipped: Python, for want of python3-mpi4py, python3-numpy and python3-cffi"
    exit 77
}
COLL_LIBRARY=$build/.libs/libcoll.so.0 PYTHONPATH="$source_dir/python" PYTHONDONTWRITEBYTECODE=1 \
    "$python" -c 'import mpi4py; mpi4py.rc.initialize = False; import coll' 2>error ||
    if grep -q -e 'was built with .*, and mpi4py with ' -e 'built for .*, but the program runs with ' error; then
        echo "skipped: Python, whose mpi4py is for another MPI library"
        exit 77
    fi
