# SPDX-License-Identifier: BSD-3-Clause
# Reads lines of JSON of applications --lab, with bench.d/field.awk and json.awk. Writes gnuplot's input: for each program
# a bar with its speedup by libcoll, and the share of its time in collectives without libcoll.
BEGIN {
    print "$programs << end"
}

{
    printf "\"%s\" %g %g\n", field("program"), median("without_s") / median("with_s"),
        100 * field("collectives")
}

END {
    begin_boxes()
    print "set y2range [0:100]"
    print "set ytics nomirror"
    print "set y2tics"
    print "set ylabel \"times as fast with libcoll\""
    print "set y2label \"% of its time in collectives, without\""
    print "plot $programs using 0:2:xtic(1) with boxes title \"times as fast\", 1 with lines dt 2 lc \"black\" notitle, " \
        "$programs using 0:3 axes x1y2 with points pt 7 ps 1.5 title \"in collectives\""
}
