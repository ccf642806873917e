# SPDX-License-Identifier: BSD-3-Clause
# Reads rows of coll-bench --predict, each with a lab and with what the job was told. Prints how much slower
# auto's calls were than the fastest named algorithm, every miss, and the errors of predictions.
#
# The fastest algorithm is taken from the same run. If the job was told nothing, it is taken from the run with
# racks if that was faster. Algorithms that auto never chooses are not included.

function ratio_text(ratio) {
    return sprintf("%.2f", ratio)
}

function time_text(us) {
    return us < 10000 ? sprintf("%.2f ms", us / 1000) : sprintf("%.0f ms", us / 1000)
}

# Returns the median time of auto's calls FROM to TO of CELL.
function median(cell, from, to,    count, i, j, held, sorted) {
    for (i = from; i <= to; i++) {
        held = call[cell, i]
        for (j = count++; j > 0 && sorted[j - 1] > held; j--)
            sorted[j] = sorted[j - 1]
        sorted[j] = held
    }
    return count % 2 ? sorted[(count - 1) / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2
}

function sum(cell, from, to,    i, all) {
    for (i = from; i <= to; i++)
        all += call[cell, i]
    return all
}

# Adds the row of a named algorithm to CELL.
function add_algorithm(cell, algorithm,    us, predicted, name) {
    us = field("median_us") + 0
    us_of[cell, algorithm] = us
    if (!(cell in best) || us < best[cell]) {
        best[cell] = us
        winner[cell] = algorithm
        busy[cell] = field("cpu_ms") * 1000 / field("processors")
    }
    name = field("op") " " algorithm
    if (field("reps") + 0 == 1)
        given_up[name]++
    predicted = field("predicted_us")
    if (predicted == "")
        return
    listed[cell, ++priced[cell]] = name
    off[cell, priced[cell]] = log(predicted / us)
}

# Adds the prediction errors of CELL to those of TOLD, which says what the job was told.
function add_predictions(cell, told,    i, name, all, key) {
    for (i = 1; i <= priced[cell]; i++)
        all += off[cell, i]
    for (i = 1; i <= priced[cell]; i++) {
        name = listed[cell, i]
        key = told SUBSEP name
        if (!(key in off_count))
            order_of_names[++name_count] = key
        off_count[key]++
        off_sum[key] += off[cell, i]
        beside[key] += off[cell, i] - all / priced[cell]
        if (!(key in least) || off[cell, i] < least[key])
            least[key] = off[cell, i]
        if (!(key in most) || off[cell, i] > most[key])
            most[key] = off[cell, i]
    }
}

# Adds CELL to the statistics of GROUP.
function add_cell(group, cell,    count, slow, first) {
    count = calls[cell]
    slow = median(cell, 4, count) / best[cell]
    first = sum(cell, 1, 3) / 3 / best[cell]
    cell_count[group]++
    hits[group] += slow <= HIT
    slower[group] += slow
    logs[group] += log(slow)
    if (slow > worst[group])
        worst[group] = slow
    firsts[group] += first
    alls[group] += sum(cell, 1, count) / (count * best[cell])
    ran = runs[cell]
    sub(/:.*/, "", ran)
    same[group] += slow > HIT && ran == winner[cell]
    if (slow > HIT)
        misses[++miss_count] = sprintf("miss, told %s: calls 4 to %d take %s, %s times as long as %s%s",
            where[cell], count, time_text(slow * best[cell]), ratio_text(slow), winner[cell],
            runs[cell] == "" ? "" : "; auto runs " runs[cell])
}

function print_groups(kind, title,    i, group) {
    for (i = 1; i <= told_count; i++) {
        group = kind SUBSEP told_at[i]
        if (!cell_count[group])
            continue
        if (title != "") {
            printf "%s\n%-16s %6s %11s %6s %10s %6s %11s %11s %6s\n", title, "told", "cells",
                "within 1.1", "mean", "geometric", "worst", "calls 1-3", "all calls", "noise"
            title = ""
        }
        printf "%-16s %6d %9.1f %% %6.2f %10.2f %6.2f %11.2f %11.2f %6d\n", told_at[i],
            cell_count[group], 100 * hits[group] / cell_count[group],
            slower[group] / cell_count[group], exp(logs[group] / cell_count[group]),
            worst[group], firsts[group] / cell_count[group], alls[group] / cell_count[group],
            same[group]
    }
}

BEGIN {
    HIT = 1.1
    LEAST = 500 # us
}

{
    algorithm = field("algorithm")
    if (algorithm == "wire" || algorithm == "")
        next
    told = field("told")
    place = field("lab") " " field("op") " " field("bytes")
    cell = told SUBSEP place
    if (!(told in seen_told)) {
        seen_told[told] = 1
        told_at[++told_count] = told
    }
    if (algorithm == "auto") {
        cells[++total] = cell
        told_of[cell] = told
        place_of[cell] = place
        where[cell] = told ", " field("lab") " " field("op") " " field("bytes")
        runs[cell] = field("runs")
        calls[cell] = split(field("calls_us"), list, " ")
        for (i = 1; i <= calls[cell]; i++)
            call[cell, i] = list[i]
        next
    }
    ran = field("runs")
    sub(/:.*/, "", ran)
    # If the algorithm does not apply, native has run instead.
    if (field("rival") + 0 == 0 && (ran == "" || ran == algorithm || algorithm == "native"))
        add_algorithm(cell, algorithm)
}

END {
    for (i = 1; i <= total; i++) {
        cell = cells[i]
        told = told_of[cell]
        with_racks = "racks" SUBSEP place_of[cell]
        if (told ~ /^nothing/ && (with_racks in best) && best[with_racks] < best[cell]) {
            best[cell] = best[with_racks]
            winner[cell] = winner[with_racks] " with racks told"
            busy[cell] = busy[with_racks]
        }
        if (!(cell in best) || calls[cell] < 4) {
            print "left out for want of 4 calls and an algorithm by name: told " where[cell]
            continue
        }
        short += calls[cell] < 20
        small = best[cell] < LEAST || busy[cell] > best[cell] / 2
        add_cell((small ? "small" : "network") SUBSEP told, cell)
        if (!small && told !~ /cache$/) # a second job predicts as the first does
            add_predictions(cell, told)
    }
    if (!total) {
        print "no rows" > "/dev/stderr"
        exit 1
    }
    for (i = 1; i <= miss_count; i++)
        print misses[i]
    printf "\nHow many times as long as the fastest algorithm by name auto takes: the median of calls 4 " \
        "to 20, the mean of\ncalls 1 to 3, and the sum of all over as many of the fastest. Means are over " \
        "cells, arithmetic unless named. Noise: misses\nin which auto runs the very algorithm that was " \
        "the fastest by name.\n"
    print_groups("network", "\nCells that the network decides")
    print_groups("small", "\nCells that processors decide: the fastest takes less than 0.5 ms, or half " \
        "of all processors")
    if (short)
        printf "\nFewer than 20 calls, since they take too long: %d of %d cells\n", short, total
    if (name_count)
        printf "\nPredicted by measured time, of cells that the network decides (beside: relative to the others of " \
        "the cell)\n%-16s %-32s %6s %6s %6s %6s %7s\n", "told", "", "cells", "mean", "least",
        "most", "beside"
    for (i = 1; i <= name_count; i++) {
        split(order_of_names[i], part, SUBSEP)
        key = order_of_names[i]
        printf "%-16s %-32s %6d %6.2f %6.2f %6.2f %7.2f\n", part[1], part[2], off_count[key],
            exp(off_sum[key] / off_count[key]), exp(least[key]), exp(most[key]),
            exp(beside[key] / off_count[key])
    }
    for (name in given_up)
        printf "run once, since it was over twice as slow as the fastest: %s, in %d cells\n", name,
            given_up[name] | "sort"
}
