# SPDX-License-Identifier: BSD-3-Clause
# Readers of coll-bench's JSON, one object on each line, include this file first.

# Returns the value of KEY in the line: text without its quotes, or a number.
function field(key,    rest) {
    if (!match($0, "\"" key "\": "))
        return ""
    rest = substr($0, RSTART + RLENGTH)
    if (substr(rest, 1, 1) == "\"") {
        rest = substr(rest, 2)
        return substr(rest, 1, index(rest, "\"") - 1)
    }
    match(rest, /^[^,}]*/)
    return substr(rest, 1, RLENGTH)
}
