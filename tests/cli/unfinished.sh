#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that requests that a program leaves active at MPI_Finalize are named, and that the program ends.
set -u
. "$(dirname "$0")/../support/programs.sh"

$limited "$mpirun" -n 2 "$build/tests/cli/unfinished" >out 2>err </dev/null || fail "it does not end well"
[ "$(grep -c "coll: MPI_Finalize with COLL_Ibcast under way on communicator ocean: " err)" = 1 ] ||
    fail "the request is not named"
