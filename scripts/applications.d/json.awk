# What table.awk and picture.awk need beside bench.d/field.awk to read the lines of JSON of
# applications --lab.

# The median of the numbers of the list that is the value of KEY.
function median(key,    n, number, i, j, swap) {
    match($0, "\"" key "\": \\[[^]]*")
    n = split(substr($0, RSTART + length(key) + 5, RLENGTH - length(key) - 5), number, ", ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && number[j] + 0 < number[j - 1] + 0; j--) {
            swap = number[j]
            number[j] = number[j - 1]
            number[j - 1] = swap
        }
    return n % 2 ? number[(n + 1) / 2] : (number[n / 2] + number[n / 2 + 1]) / 2
}
