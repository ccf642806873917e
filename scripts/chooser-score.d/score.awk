# SPDX-License-Identifier: BSD-3-Clause
# Reads rows of coll-bench --predict, each with a shape and a pass. Prints for the first pass how often auto's
# choice was within 5 % of the fastest algorithm, every miss, and the errors of the predictions. If there is a
# second pass, also prints how often the fastest of one pass is within 5 % of the fastest of the other.

function absolute(x) {
    return x < 0 ? -x : x
}

# Returns the time of PICK in CELL divided by that of the fastest algorithm, in PASS.
function slower(pass, cell, pick) {
    return time[pass, cell, pick] / best[pass, cell]
}

# Returns whether the fastest algorithm of pass FROM is a hit in pass TO.
function is_steady(from, to, cell) {
    return (to, cell, winner[from, cell]) in time && slower(to, cell, winner[from, cell]) <= HIT
}

BEGIN {
    HIT = 1.05
}

{
    algorithm = field("algorithm")
    if (algorithm == "wire")
        next
    cell = field("shape") " " field("op") " p=" field("ranks") " " field("bytes")
    median = field("median_us")
    pass = field("pass") + 0
    if (!(cell in seen)) {
        seen[cell] = 1
        order[++cells] = cell
    }
    # Without predictions, as for sizes that differ by rank, the algorithm that auto ran is unknown.
    runs = field("runs") == "" ? algorithm : field("runs")
    if (algorithm == "auto") {
        pick[pass, cell] = runs
        if (runs == "auto")
            time[pass, cell, runs] = median
        next
    }
    ran = runs
    sub(/:.*/, "", ran)
    if (ran != algorithm)
        next # it doesn't apply there: native ran instead
    time[pass, cell, runs] = median
    if (field("rival") + 0 == 0 && (!((pass, cell) in best) || median + 0 < best[pass, cell] + 0)) {
        best[pass, cell] = median
        winner[pass, cell] = runs
    }
    predicted = field("predicted_us")
    if (pass > 1 || predicted == "")
        next
    name = field("op") " " algorithm
    if (!(name in count))
        names[++algorithms] = name
    error = absolute(predicted / median - 1)
    count[name]++
    sum[name] += error
    if (error > worst[name]) {
        worst[name] = error
        where[name] = cell
    }
}

END {
    for (i = 1; i <= cells; i++) {
        cell = order[i]
        ratio = slower(1, cell, pick[1, cell])
        total += ratio
        if (ratio <= HIT)
            hits++
        else
            printf "miss %s: %s is %.2f times as slow as %s\n", cell, pick[1, cell], ratio,
                winner[1, cell]
        again += ((2, cell) in best)
        steady += is_steady(1, 2, cell) + is_steady(2, 1, cell)
    }
    if (!cells) {
        print "no rows" > "/dev/stderr"
        exit 1
    }
    printf "\n%-30s %6s %10s %10s  %s\n", "prediction error of", "cells", "mean", "worst", "where"
    for (i = 1; i <= algorithms; i++) {
        name = names[i]
        printf "%-30s %6d %9.1f%% %9.1f%%  %s\n", name, count[name],
            100 * sum[name] / count[name], 100 * worst[name], where[name]
    }
    printf "\nauto's pick is within 5 %% of the fastest in %d of %d cells: %.1f %%; on average %.3f times as slow\n",
        hits, cells, 100 * hits / cells, total / cells
    if (again)
        printf "the fastest of one run is within 5 %% of the fastest of the other in %.1f %%\n",
            100 * steady / (2 * again)
}
