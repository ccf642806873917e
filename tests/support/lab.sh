#!/bin/bash
# Sourced by tests that run programs on a lab, $lab, of scripts/netlab; skipped (77) where netlab says
# that the machine lacks what it needs. At the end the lab goes, and what still runs in $run.
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

if ! "${MPIRUN:-mpirun}" --version 2>/dev/null | grep -q 'Open MPI\|HYDRA'; then
    echo 'skipped: no mpirun of Open MPI or MPICH'
    exit 77
fi

# set_up COMMAND...: the lab, and in $work/topology its topology.
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
