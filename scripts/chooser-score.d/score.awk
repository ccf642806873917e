# Reads rows of coll-bench --predict, each with a shape, and prints how often auto's pick was within
# 5 % of the fastest algorithm, every miss, and the errors of the predictions, by the model alone and
# with the profile's trials.

function absolute(x) {
    return x < 0 ? -x : x
}

{
    predicted = field("predicted_us")
    if (predicted == "")
        next # MPI's forced algorithms and the wire are not candidates
    cell = field("shape") " " field("op") " p=" field("ranks") " " field("bytes")
    algorithm = field("algorithm")
    median = field("median_us")
    if (!(cell in seen)) {
        seen[cell] = 1
        order[++cells] = cell
    }
    if (algorithm == "auto") {
        pick[cell] = field("runs")
        next
    }
    ran = field("runs")
    sub(/:.*/, "", ran)
    if (ran != algorithm)
        next # it doesn't apply there: native ran instead
    time[cell, field("runs")] = median
    if (field("rival") + 0 == 0 && (!(cell in best) || median + 0 < best[cell] + 0)) {
        best[cell] = median
        winner[cell] = field("runs")
    }
    name = field("op") " " algorithm
    if (!(name in count))
        names[++algorithms] = name
    error = absolute(field("model_us") / median - 1)
    count[name]++
    sum[name] += error
    if (error > worst[name]) {
        worst[name] = error
        where[name] = cell
    }
    error = absolute(predicted / median - 1)
    tried[name] += error
    if (error > tried_worst[name])
        tried_worst[name] = error
}

END {
    for (i = 1; i <= cells; i++) {
        cell = order[i]
        ratio = time[cell, pick[cell]] / best[cell]
        total += ratio
        if (ratio <= 1.05)
            hits++
        else
            printf "miss %s: %s is %.2f times as slow as %s\n", cell, pick[cell], ratio, winner[cell]
    }
    if (!cells) {
        print "no rows" > "/dev/stderr"
        exit 1
    }
    printf "\n%-30s %6s %11s %10s %10s %10s  %s\n", "prediction error of", "cells", "with trials",
        "worst", "model", "worst", "where"
    for (i = 1; i <= algorithms; i++) {
        name = names[i]
        printf "%-30s %6d %10.1f%% %9.1f%% %9.1f%% %9.1f%%  %s\n", name, count[name],
            100 * tried[name] / count[name], 100 * tried_worst[name],
            100 * sum[name] / count[name], 100 * worst[name], where[name]
    }
    printf "\nauto's pick is within 5 %% of the fastest in %d of %d cells: %.1f %%; on average %.3f times as slow\n",
        hits, cells, 100 * hits / cells, total / cells
}
