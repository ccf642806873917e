#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests that run programs on a lab of scripts/netlab, whose name is $lab. They are skipped (77)
# if netlab reports that the machine lacks something. At the end the lab and the process $run are removed.
netlab=$(cd "$(dirname "$0")/../.." && pwd)/scripts/netlab
lab=test-$$
work=$(mktemp -d)

cleanup() {
    [[ -z ${run-} ]] || kill "$run" 2>/dev/null
    wait
    "$netlab" down --name "$lab" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

. "$(dirname "$0")/../support/launcher.sh"
if [[ $launcher == other ]]; then
    echo 'skipped: no mpirun of Open MPI or MPICH'
    exit 77
fi

# set_up COMMAND...: builds the lab with a command of netlab, and writes its topology to $work/topology.
set_up() {
    local text status=0
    text=$("$netlab" "$@" --name "$lab" 2>&1) || status=$?
    if ((status == 3)); then
        echo "skipped: $text"
        exit 77
    fi
    ((status == 0)) || { echo "$text" && exit 1; }
    "$netlab" topology --name "$lab" >"$work/topology"
}
