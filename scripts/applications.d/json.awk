# What table.awk and picture.awk need to read the lines of JSON of applications --lab.

# The value of KEY in the line: text without its quotes, a number, or a list without its brackets.
function field(key,    rest) {
    if (!match($0, "\"" key "\": "))
        return ""
    rest = substr($0, RSTART + RLENGTH)
    if (rest ~ /^"/)
        return substr(rest, 2, index(substr(rest, 2), "\"") - 1)
    if (rest ~ /^\[/)
        return substr(rest, 2, index(rest, "]") - 2)
    match(rest, /^[^,}]*/)
    return substr(rest, 1, RLENGTH)
}

# The median of numbers separated by commas.
function median(list,    n, number, i, j, swap) {
    n = split(list, number, ", ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && number[j] + 0 < number[j - 1] + 0; j--) {
            swap = number[j]
            number[j] = number[j - 1]
            number[j - 1] = swap
        }
    return n % 2 ? number[(n + 1) / 2] : (number[n / 2] + number[n / 2 + 1]) / 2
}
