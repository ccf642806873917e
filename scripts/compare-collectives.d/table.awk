# SPDX-License-Identifier: BSD-3-Clause
# Reads rows of coll-bench, each with a shape, and prints a table in Markdown: the times of libcoll, of Open
# MPI's default and of its best algorithm, and the limit that the links set. With columns=1 it prints the call
# and libcoll's speedups over the two.

# Returns the bits per second of a rate such as 20mbit.
function rate(text) {
    return text * (text ~ /gbit/ ? 1e9 : 1e6)
}

function larger(a, b) {
    return a > b ? a : b
}

# Returns the seconds for BYTES, with headers, over a link of BITS per second. After a pause a netlab link passes
# 5 KB at once, and 32 KB at 5/4 of its rate; fast links pass the bytes of 1 ms instead, if these are more.
function through(bytes, bits,    rate, sent, in_burst) {
    rate = bits / 8
    sent = bytes * 1.045
    in_burst = (sent - larger(5000, rate / 1000)) / (1.25 * rate)
    return larger(larger((sent - larger(32768, rate / 1000)) / rate, in_burst), 0)
}

# Returns the least time of a call of M bytes, from the bytes over the busiest host link and the busiest uplink.
function limit(shape, op, m,    word, size, racks, hosts, p, link, uplink, at_host, at_rack) {
    split(shape, word, ":")
    split(word[1], size, "x")
    racks = size[1]
    hosts = size[2]
    p = racks * hosts
    link = rate(word[2])
    uplink = rate(word[3])
    if (op ~ /^(bcast|reduce)$/) {
        at_host = m
        at_rack = racks > 1 ? m : 0
    } else if (op == "allreduce") {
        at_host = 2 * m * (p - 1) / p
        at_rack = 2 * m * (racks - 1) / racks
    } else if (op ~ /^alltoallv?$/) {
        at_host = m * (p - 1) / p
        at_rack = hosts * m * (p - hosts) / p
    } else { # a reduce_scatter, an allgather, a gather or a scatter of m in all
        at_host = m * (p - 1) / p
        at_rack = m * (racks - 1) / racks
    }
    return larger(through(at_host, link), through(at_rack, uplink))
}

function ms(us) {
    return us == "" ? "not measured" : sprintf(us < 100000 ? "%.1f ms" : "%.0f ms", us / 1000)
}

function times(a, b) {
    return a == "" || b == 0 ? "" : sprintf("%.1f", a / b)
}

function size_text(bytes) {
    if (bytes < 1024)
        return bytes " B"
    return bytes % 1048576 == 0 ? bytes / 1048576 " MB" : bytes / 1024 " KB"
}

{
    cell = field("shape") SUBSEP field("op") SUBSEP field("bytes")
    algorithm = field("algorithm")
    median = field("median_us") + 0
    if (algorithm == "wire" || !median)
        next
    if (!(cell in seen)) {
        seen[cell] = 1
        order[++cells] = cell
    }
    if (algorithm == "auto") {
        ours[cell] = median
        runs[cell] = field("runs")
        next
    }
    if (algorithm == "native")
        native[cell] = median
    else
        rivals = 1
    if (!(cell in best) || median < best[cell]) {
        best[cell] = median
        winner[cell] = algorithm (field("params") == "" ? "" : " " field("params"))
    }
}

END {
    if (!columns) {
        print "| lab | operation | size | libcoll | by | of the limit | Open MPI, default | " \
            "Open MPI, best | times as fast |"
        print "|---|---|---|---|---|---|---|---|---|"
    }
    for (i = 1; i <= cells; i++) {
        cell = order[i]
        split(cell, part, SUBSEP)
        sub(/:.*/, "", runs[cell])
        if (columns)
            printf "\"%s %s\" %g %g\n", part[2], size_text(part[3]), native[cell] / ours[cell],
                best[cell] / ours[cell]
        else
            printf "| %s | %s | %s | %s | %s | %.0f %% | %s | %s | %s |\n", part[1], part[2],
                size_text(part[3]), ms(ours[cell]), runs[cell],
                100 * limit(part[1], part[2], part[3]) * 1e6 / ours[cell], ms(native[cell]),
                rivals ? ms(best[cell]) " (" winner[cell] ")" : "not measured",
                times(native[cell], ours[cell]) (rivals ? ", " times(best[cell], ours[cell]) : "")
    }
}
