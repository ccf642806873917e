# SPDX-License-Identifier: BSD-3-Clause
# Reads lines of JSON of applications --lab --by dcp, with bench.d/field.awk and json.awk. Writes gnuplot's input: for
# each program and ratio, the measured speedup with DCPs, and the speedup that coll-info explain dcp predicted.
BEGIN {
    print "$programs << end"
}

{
    printf "\"%s %s\" %g %g\n", field("program"), field("dcp"), median_ratio("none_s", "with_s"), field("explained")
}

END {
    begin_boxes()
    print "set ylabel \"times as fast with DCPs on the same ranks\""
    print "plot $programs using 0:2:xtic(1) with boxes title \"measured\", 1 with lines dt 2 lc \"black\" notitle, " \
        "$programs using 0:3 with points pt 7 ps 1.5 title \"explained\""
}
