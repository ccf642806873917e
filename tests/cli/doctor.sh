#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-info doctor and coll-run --doctor on this host: the table, findings as text and JSON, and errors.
set -u
. "$(dirname "$0")/../support/programs.sh"

# doctor RANKS OPTIONS: runs it, with its output in out and err.
doctor() {
    ranks=$1
    shift
    $limited "$mpirun" -n "$ranks" "$build/coll-info" doctor "$@" >out 2>err </dev/null
}

# The doctor runs without mpirun, and on two ranks. It is no error if ranks share cores.
$limited "$build/coll-info" doctor >out 2>err </dev/null || fail "one rank"
grep -q '^doctor: 1 rank on 1 host' out || fail "one rank: no table"
doctor 2 --json found.json || fail "two ranks"
grep -q '^doctor: 2 ranks on 1 host' out || fail "two ranks: no table"
grep -q '^{"host": "[^"]*", "ranks": 2, "cores": [1-9]' found.json || fail "no JSON"
if grep -q '^nothing stands out' out; then
    ! grep -q '"finding"' found.json || fail "a finding in JSON alone"
else
    grep -q '^{"finding": 1, "kind": "' found.json || fail "no finding in JSON"
fi

# More ranks than cores, on one core.
if command -v taskset >taskset.out; then
    $limited "$mpirun" -n 2 taskset -c 0 "$build/coll-info" doctor --json found.json >out 2>err </dev/null ||
        fail "two ranks on a core"
    grep -q '^1\. host [^ ]*: 2 ranks, 0 and 1 among them, are bound to the same core' out ||
        fail "two ranks on a core: not found"
    grep -q '^{"finding": 1, "kind": "shared core", "certain": 1' found.json || fail "two ranks on a core: no JSON"
fi

# coll-run runs it with the same options of mpirun, then the program; its arguments stay as they are.
if [ -x "$build/coll-run" ]; then
    set -- -x GREETING=hello
    [ "$launcher" != mpich ] || set -- -genv GREETING hello
    $limited "$build/coll-run" -n 2 "$@" --doctor -- sh -c 'echo "$GREETING $1"' sh 'a  b' >out 2>err \
        </dev/null || fail "coll-run --doctor"
    grep -q '^doctor: 2 ranks on 1 host' out || fail "coll-run --doctor: no table"
    [ "$(grep -c '^hello a  b$' out)" = 2 ] || fail "coll-run --doctor: the program has not run as it should"
    printf '#!/bin/sh\nexit 3\n' >mpirun-fails
    chmod +x mpirun-fails
    MPIRUN=$work/mpirun-fails "$build/coll-run" -n 2 --doctor -- true >out 2>err && fail "coll-run --doctor: no error"
    [ "$(grep -c '^coll-run: --doctor: ' err)" = 1 ] || fail "coll-run --doctor: the failure is not named"
fi

# Errors are one line.
doctor 2 --json /nowhere/found && fail "a file that can't be written"
[ "$(grep -c '^coll-info doctor: .*/nowhere' err)" = 1 ] || fail "a file that can't be written is not named"
doctor 2 --deep && fail "an unknown option"
[ "$(grep -c '^coll-info doctor: .*--deep' err)" = 1 ] || fail "an unknown option is not named"
# With MPICH a program that mpirun hasn't started has an mpiexec of its own, which writes its output.
if [ "$launcher" != mpich ]; then
    $limited "$build/coll-info" doctor >/dev/full 2>err </dev/null && fail "a full disk"
    grep -q '^coll-info doctor: the output ' err || fail "a full disk is not named"
fi
echo passed
