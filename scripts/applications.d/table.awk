# SPDX-License-Identifier: BSD-3-Clause
# Reads lines of JSON of applications --lab, with bench.d/field.awk and json.awk. Prints a table; title=1 adds its head.

BEGIN {
    if (title)
        printf "%-14s %5s %12s %10s %8s %6s %11s %-9s %s\n", "program", "ranks", "collectives", "without_s",
            "with_s", "ratio", "init_s", "results", "most of libcoll's time"
}

# Returns the seconds in MPI_Init without and with libcoll.
function starts() {
    return field("without_init_s") == "null" ? "?" : sprintf("%.2f %.2f", median("without_init_s"), median("with_init_s"))
}

{
    before = median("without_s")
    after = median("with_s")
    share = field("collectives")
    share = share == "null" ? "?" : sprintf("%.0f %%", 100 * share)
    most = field("most_time")
    if (most == "null")
        most = "no call"
    else
        most = sprintf("%d x %s of %s bytes by %s, %.0f %%", field("calls"), most, field("bytes"),
            field("algorithm"), 100 * field("of_calls"))
    printf "%-14s %5d %12s %10.2f %8.2f %6.2f %11s %-9s %s\n",
        field("program") (field("clock") == "run" ? " (run)" : ""), field("ranks"), share, before, after,
        before / after, starts(), field("equal") == "true" ? "equal" : "DIFFERENT", most
}
