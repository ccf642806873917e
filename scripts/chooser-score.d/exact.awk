# SPDX-License-Identifier: BSD-3-Clause
# Prints a profile with the true rates, delay and buffers of a lab, and the built-in values of gigabit
# Ethernet for the costs of a message at its ends. Variables have the form that draw.awk prints:
# -v racks=4,3 link=30mbit uplink=89mbit buffer=384k delay=110us

# Returns the bytes per second of a rate such as 30mbit.
function rate(text) {
    return text * 1e6 / 8
}

# Prints the level NAME, with BYTES per second for one message and TOGETHER for all racks together.
function level(name, bytes, together) {
    printf "level %s latency_s %.6g overhead_s 7e-06 per_byte_s %.6g wake_s 2e-05 per_rank_s 5e-06%s " \
        "buffer_bytes %d\n", name, 3e-5 + 2e-6 * delay, 1 / bytes,
        together ? sprintf(" together_bytes_per_s %.6g", together) : "", buffer * 1024
    printf "curve %s Os error 0.01 at 1 8e-06 1024 1.2e-05 65536 %s\n", name,
        bytes < 2e7 ? "1.2e-4" : "3e-5"
    printf "curve %s gs error 0.01 at 1 1.2e-05 64 1.2e-05 %d %.6g\n", name, GB, GB / bytes
    printf "curve %s L error 0.01 at 1 %.6g 4096 %.6g %d %.6g\n", name, 5e-6 + 2e-6 * delay,
        5e-6 + 2e-6 * delay, GB, 2e-6 * delay + GB / bytes
    printf "curve %s gr error 0.01 at 256 4e-05 %d %.6g\n", name, GB, GB / bytes
    printf "curve %s Or error 0.01 at 1 5e-08 65536 5e-06\n", name
    printf "curve %s Ur error 0.01 at 1 5e-06 1024 6e-06 65536 %s\n", name,
        bytes < 2e7 ? "2.5e-4" : "5e-5"
}

BEGIN {
    GB = 2 ^ 30
    count = split(racks, size, ",")
    for (i = 1; i <= count; i++)
        hosts += size[i]
    print "libcoll-profile 3"
    print "date 2000-01-01T00:00:00Z"
    print "hosts n[0-" hosts - 1 "]"
    level("rack", rate(link), 0)
    if (count > 1)
        level("site", rate(link + 0 < uplink + 0 ? link : uplink), count * rate(uplink))
    print "end"
}
