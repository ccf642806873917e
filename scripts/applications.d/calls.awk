# SPDX-License-Identifier: BSD-3-Clause
# Reads lines of COLL_TRACE. Finds the operation and size whose calls took libcoll the most time in total.
# Prints, as members of a JSON object: the operation, the size, the number of calls, the algorithm that was
# chosen most often, and the share of these calls in the time of all calls.
/^coll: [a-z_]+ bytes=/ {
    bytes = $3
    sub(/bytes=/, "", bytes)
    match($0, /choice=[a-z_]+/)
    choice = substr($0, RSTART + 7, RLENGTH - 7)
    match($0, /seconds=[0-9.]+/)
    taken = substr($0, RSTART + 8, RLENGTH - 8)
    call = $2 SUBSEP bytes
    seconds[call] += taken
    calls[call]++
    all += taken
    if (++chosen[call, choice] > most[call]) {
        most[call] = chosen[call, choice]
        algorithm[call] = choice
    }
}

END {
    for (call in seconds)
        if (first == "" || seconds[call] > seconds[first])
            first = call
    if (first == "") {
        printf "\"most_time\": null"
        exit
    }
    split(first, part, SUBSEP)
    printf "\"most_time\": \"%s\", \"bytes\": %s, \"calls\": %d, \"algorithm\": \"%s\", \"of_calls\": %.3f",
        part[1], part[2], calls[first], algorithm[first], (all > 0 ? seconds[first] / all : 0)
}
