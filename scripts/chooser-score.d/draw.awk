# SPDX-License-Identifier: BSD-3-Clause
# Prints the random labs FIRST to LAST of SEED, one on each line: name, hosts in each rack, link, uplink and
# buffer in netlab's units, delay, ranks on each host, order of the ranks.
#
# The random numbers are Park and Miller's, x = 16807 x mod (2^31 - 1). The generator is seeded for each
# lab, and its first 20 numbers are discarded.
#
# If MOST is not 0, a lab whose hosts' links have more Mbit/s together is slowed down: its rates are divided, and
# its delay is multiplied, by the same factor.

# Returns a random number from 0 to below 1.
function draw() {
    state = state * 16807 % 2147483647
    return (state - 1) / 2147483646
}

# Returns a random whole number from LEAST to MOST.
function whole(least, most) {
    return least + int(draw() * (most - least + 1))
}

# Returns a random number from LEAST to MOST whose logarithm is uniform.
function by_factor(least, most) {
    return least * exp(draw() * log(most / least))
}

# Returns the hosts in each rack as text, at least one in each: evenly if EVEN, else at random.
function split_hosts(hosts, racks,    even, size, text, i) {
    even = draw() < 0.5
    for (i = 0; i < racks; i++)
        size[i] = 1
    for (i = racks; i < hosts; i++)
        size[even ? i % racks : whole(0, racks - 1)]++
    text = size[0]
    for (i = 1; i < racks; i++)
        text = text "," size[i]
    return text
}

BEGIN {
    for (lab = FIRST; lab <= LAST; lab++) {
        state = (SEED * 1000 + lab) % 2147483646 + 1
        for (i = 0; i < 20; i++)
            draw()
        racks = whole(1, 6)
        count = whole(racks > 4 ? racks : 4, 25)
        hosts = split_hosts(count, racks)
        link = by_factor(10, 400)
        uplink = link * by_factor(0.5, 4)
        buffer = by_factor(40, 400)
        delay = draw() < 0.5 ? 0 : whole(10, 200) * 10
        ranks = whole(1, 4)
        order = draw() < 0.5 ? "rack" : "scrambled"
        slower = MOST && count * link > MOST ? count * link / MOST : 1
        rate = slower > 1 ? "%.2fmbit" : "%.0fmbit"
        printf "%d.%d %s " rate " " rate " %.0fk %s %d %s\n", SEED, lab, hosts, link / slower,
            uplink / slower, buffer, delay ? int(delay * slower) "us" : 0, ranks, order
    }
}
