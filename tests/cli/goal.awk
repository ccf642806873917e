# SPDX-License-Identifier: BSD-3-Clause
# Checks a file of GOAL: its syntax, that what is required is there, and that each message that a rank sends
# is one that the other rank receives, with as many bytes. Prints the number of messages.
function bad(what) {
    print "line " NR ": " what ": " $0
    failed = 1
    exit 1
}
NR == 1 {
    if ($0 !~ /^num_ranks [0-9]+$/) bad("no num_ranks")
    ranks = $2
    next
}
/^$/ { next }
/^rank [0-9]+ \{$/ {
    if (inside || $2 != next_rank++) bad("not the next rank")
    inside = 1
    rank = $2
    split("", known)
    next
}
/^\}$/ {
    if (!inside) bad("no rank ends")
    inside = 0
    next
}
!inside { bad("outside of a rank") }
/^l[0-9]+: (calc [0-9]+|(send [0-9]+b to|recv [0-9]+b from) [0-9]+ tag [0-9]+)$/ {
    label = substr($1, 1, length($1) - 1)
    if (label in known) bad("a label twice")
    known[label] = 1
    if ($2 == "calc") next
    if ($5 >= ranks) bad("no such rank")
    key = $2 == "send" ? rank " " $5 " " $7 : $5 " " rank " " $7
    bytes[$2, key] = bytes[$2, key] " " $3
    keys[key] = 1
    messages += $2 == "send"
    next
}
/^l[0-9]+ i?requires l[0-9]+$/ {
    if (!($1 in known) || !($3 in known) || $1 == $3) bad("requires an unknown label")
    next
}
{ bad("syntax") }
END {
    if (failed) exit 1
    if (inside || next_rank != ranks) { print "ranks are missing"; exit 1 }
    for (key in keys)
        if (bytes["send", key] != bytes["recv", key]) { print "message " key " does not match"; exit 1 }
    print messages
}
