# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables of lab
# Sourced by lab: runs programs with dedicated processors (DCPs) and without, on the same ranks.

dcp_racks=2 dcp_hosts=4 dcp_ranks_on_host=4
dcp_ranks=$((dcp_racks * dcp_hosts * dcp_ranks_on_host))

# Prints the programs with reductions or other collectives that DCPs can serve.
dcp_programs() {
    printf '%s\n' hpcc lammps mpi4py petsc petsc_pipelined popcg popcg_pipelined
}

dcp_check() {
    local ratio='1:(1|2|4|8|16)'
    dcp=${dcp:-1:8,1:4}
    [[ $dcp =~ ^$ratio(,$ratio)*$ ]] ||
        die "--dcp must be a list such as 1:8,1:4, of numbers that are powers of two up to 16, not '$dcp'"
}

# Sets the lab: ranks 0 to 3 are on the first host, and so on. DCPs use only the costs of the profile.
dcp_lab() {
    local host i
    racks=$dcp_racks hosts=$dcp_hosts order=$work/order
    for ((host = 0; host < racks * hosts; host++)); do
        for ((i = 0; i < dcp_ranks_on_host; i++)); do
            echo "n$host"
        done
    done >"$order"
}

# application_ranks RATIO: prints how many of $dcp_ranks run the program.
application_ranks() {
    local group=$((${1#1:} + 1))
    echo $((dcp_ranks - (dcp_ranks + group - 1) / group))
}

# account_of RUN FIGURE: prints FIGURE from the account line that rank 0 of RUN wrote.
account_of() {
    sed -n "s/^coll: account .* $2=\([^ ]*\).*/\1/p" "$1/errors.0"
}

# explain RATIO: prints the program's predicted speedup with DCPs, from its account.
explain() {
    "$build/coll-info" explain dcp "$work/runs/account/errors.0" --json "$work/explained" >/dev/null ||
        die "coll-info explain dcp failed for the account of $name"
    awk -v served="${1#1:}" "$(cat "$scripts/bench.d/field.awk")"'
        field("served") == served { printf "%.4f", field("now_s") / field("with_s") }' "$work/explained"
}

# dcp_measure NAME: prints a line of JSON for each ratio.
dcp_measure() {
    local ratio run ranks=$dcp_ranks equal account=$work/runs/account
    prepare_program "$1"
    prepare_input
    for ratio in ${dcp//,/ }; do
        ranks=$(application_ranks "$ratio") prepare_input
    done
    run_program account "$account"
    for ((run = 1; run <= runs; run++)); do
        run_program without "$work/runs/none.$run"
        for ratio in ${dcp//,/ }; do
            ranks=$(application_ranks "$ratio") run_program without "$work/runs/fewer.$ratio.$run"
            run_program "$ratio" "$work/runs/$ratio.$run"
        done
    done
    find_clock
    for ratio in ${dcp//,/ }; do
        equal=true
        same "$work/runs/fewer.$ratio".* "$work/runs/$ratio".* || equal=false
        echo "{\"program\": \"$name\", \"by\": \"dcp\", \"dcp\": \"$ratio\", \"ranks\": $dcp_ranks," \
            "\"application\": $(application_ranks "$ratio"), \"clock\": \"$clock\"," \
            "\"collectives\": $(share), \"served_s\": $(account_of "$account" Tserved)," \
            "\"started_s\": $(account_of "$account" Tstarted)," \
            "\"served\": $(account_of "$work/runs/$ratio.1" served), \"explained\": $(explain "$ratio")," \
            "$(figures none), $(figures "fewer.$ratio" fewer), $(figures "$ratio" with), \"equal\": $equal}"
    done
}
