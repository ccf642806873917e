# SPDX-License-Identifier: BSD-3-Clause
# Functions with which table.awk, picture.awk, dcp-table.awk and dcp-picture.awk read the lines of JSON of
# applications --lab, in addition to bench.d/field.awk.

# Reads the list of numbers of KEY into NUMBER; returns how many there are.
function numbers(key, number) {
    match($0, "\"" key "\": \\[[^]]*")
    return split(substr($0, RSTART + length(key) + 5, RLENGTH - length(key) - 5), number, ", ")
}

# Sorts the N numbers and returns their median.
function middle(number, n,    i, j, swap) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && number[j] + 0 < number[j - 1] + 0; j--) {
            swap = number[j]
            number[j] = number[j - 1]
            number[j - 1] = swap
        }
    return n % 2 ? number[(n + 1) / 2] : (number[n / 2] + number[n / 2 + 1]) / 2
}

function median(key,    number, n) {
    n = numbers(key, number)
    return middle(number, n)
}

# Returns the median of the ratios of consecutive runs. Other work on the machine slows both runs of a pair.
function median_ratio(above, below,    one, other, n, i) {
    n = numbers(above, one)
    numbers(below, other)
    for (i = 1; i <= n; i++)
        one[i] /= other[i]
    return middle(one, n)
}

# Ends the data of a bar chart, and prints the settings that all bar charts share.
function begin_boxes() {
    print "end"
    print "set terminal pngcairo size 900, 500 noenhanced"
    print "set style fill solid 0.8"
    print "set boxwidth 0.6"
    print "set xtics rotate by -30"
    print "set yrange [0:*]"
    print "set key top left"
}
