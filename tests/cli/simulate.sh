#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests scripts/simulate: the small cases give exactly the stored simulated times, and errors of the command
# line are reported. Skipped if the simulator is missing.
set -u
simulate=$(cd "$(dirname "$0")/../.." && pwd)/scripts/simulate
if ! command -v smpicc >/dev/null || ! command -v g++ >/dev/null; then
    echo "skipped: no simulator; install libsimgrid-dev and g++"
    exit 77
fi

refuses() {
    text=$1
    shift
    "$simulate" "$@" >out 2>&1 && { echo "FAILED: accepts $*"; exit 1; }
    grep -F -q -e "$text" out || { echo "FAILED: $* says: $(cat out)"; exit 1; }
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
here=$PWD
cd "$work" || exit 99
refuses "no figure 'nothing'; see --list" nothing
refuses "unknown option --fast" --fast
refuses "--build needs a directory" --build
"$simulate" --list | grep -q '^chain ' || { echo "FAILED: --list"; exit 1; }

"$simulate" --build "$here/build-simulate" --quick
