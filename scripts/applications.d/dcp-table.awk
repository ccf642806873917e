# SPDX-License-Identifier: BSD-3-Clause
# Reads lines of JSON of applications --lab --by dcp, with bench.d/field.awk and json.awk. Prints a table; title=1 adds
# its head. fewer_s is the time without DCPs on as many ranks as run the program with them. ratio is the median of the
# ratios of the rounds.

BEGIN {
    pays = 1.03
    if (title)
        printf "%-16s %-5s %5s %11s %7s %7s %7s %6s %9s %-6s %-9s %s\n", "program", "dcp", "ranks", "collectives",
            "none_s", "fewer_s", "with_s", "ratio", "explained", "right", "results", "served"
}

{
    ratio = median_ratio("none_s", "with_s")
    explained = field("explained")
    share = field("collectives")
    share = share == "null" ? "?" : sprintf("%.0f %%", 100 * share)
    printf "%-16s %-5s %5d %11s %7.2f %7.2f %7.2f %6.2f %9.2f %-6s %-9s %.0f\n",
        field("program") (field("clock") == "run" ? " (run)" : ""), field("dcp"), field("application"), share,
        median("none_s"), median("fewer_s"), median("with_s"), ratio, explained,
        (ratio > pays) == (explained > pays) ? "yes" : "NO",
        field("equal") == "true" ? "equal" : "DIFFERENT", field("served")
}
