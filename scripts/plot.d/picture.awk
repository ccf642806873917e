# SPDX-License-Identifier: BSD-3-Clause
# Converts the lines of rows.awk to gnuplot's input. gnuplot then writes a PNG to its standard output. The
# environment has plot's options in PLOT_KIND, PLOT_ALGORITHMS, PLOT_RIVALS and PLOT_TITLE.
#
# A curve is an algorithm with its parameters at one number of ranks (for the kind ranks: at one
# size), which is called its group. curve_at[c, x] is its y.

function fail(text) {
    print "plot: " text > "/dev/stderr"
    failed = 1
    exit 1
}

function role_of(op, algorithm) {
    if (algorithm == "wire" || algorithm == "native")
        return algorithm
    return algorithm ~ /^ompi_/ || algorithm == "i" op ? "rival" : "ours"
}

# Returns a size as text, such as 64K.
function size_text(bytes,   unit) {
    for (unit = 0; unit < 4 && bytes >= 1024 && bytes % 1024 == 0; unit++)
        bytes /= 1024
    return bytes substr("KMGT", unit, unit > 0)
}

function time_text(us) {
    if (us >= 1e6)
        return us / 1e6 " s"
    return us >= 1e3 ? us / 1e3 " ms" : us " µs"
}

# Returns TEXT in single quotes for gnuplot. Only the quote itself is special there.
function quote(text) {
    gsub(/'/, "''", text)
    return "'" text "'"
}

# --- what is drawn -------------------------------------------------------------------------------

function choose_algorithms(list,   words, count, i) {
    gsub(/;/, " ", list)
    count = split(list, words, " ")
    for (i = 1; i <= count; i++)
        chosen[words[i]] = 1
    choosing = ENVIRON["PLOT_ALGORITHMS"] != ""
    if (choosing && !count)
        fail("--algorithms: the list is empty")
}

# Returns whether a row gets its own curve.
function wanted(role, algorithm, name) {
    if (choosing && (algorithm in chosen || name in chosen)) {
        met[algorithm] = met[name] = 1
        return 1
    }
    if (role == "wire")
        return kind != "link"
    if (role == "ours")
        return !choosing
    return rivals == "all" || (rivals == "best" && role == "native")
}

function new_curve(role, algorithm, name, group) {
    curves++
    curve_role[curves] = role
    curve_algorithm[curves] = algorithm
    curve_name[curves] = name
    variants[algorithm, group]++
    curve_group[curves] = group
    curve_number[name, group] = curves
}

function add_point(role, algorithm, name, group, x, y, place,   c) {
    if (!((name, group) in curve_number))
        new_curve(role, algorithm, name, group)
    c = curve_number[name, group]
    if ((c, x) in curve_at)
        fail(place ": another row of " name " with " ranks " ranks and " size_text(bytes) \
             " bytes; the first is " curve_place[c, x])
    curve_at[c, x] = y
    curve_place[c, x] = place
    note_extent(x, y)
}

# Updates the curve of the best of MPI's settings, including native, with one point.
function improve_best(group, x, y,   c) {
    if (!(("best", group) in curve_number))
        new_curve("best", "best", "best", group)
    c = curve_number["best", group]
    if (!((c, x) in curve_at) || (kind == "link" ? y > curve_at[c, x] : y < curve_at[c, x]))
        curve_at[c, x] = y
    note_extent(x, curve_at[c, x])
}

function note_extent(x, y) {
    if (!(x in known_x)) {
        known_x[x] = 1
        xs[++x_count] = x
    }
    if (!points++ || y < lowest)
        lowest = y
    if (y > highest)
        highest = y
}

function count_group(group) {
    if (group in groups)
        return
    groups[group] = ++group_count
    only_group = group
}

BEGIN {
    FS = "\t"
    OFMT = CONVFMT = "%.15g"
    kind = ENVIRON["PLOT_KIND"]
    rivals = ENVIRON["PLOT_RIVALS"]
    choose_algorithms(ENVIRON["PLOT_ALGORITHMS"])
}

{
    op = $1
    ranks = $4
    bytes = $5
    if (NR > 1 && op != first_op)
        fail($8 ": " op " among rows of " first_op "; draw one operation at a time")
    first_op = op
    names[$2] = 1
    role = role_of(op, $2)
    name = $2 ($3 != "" && role != "wire" ? ":" $3 : "")
    x = kind == "ranks" ? ranks : bytes
    group = kind == "ranks" ? bytes : ranks
    y = kind == "link" ? $7 : $6
    drawn = wanted(role, $2, name)
    if (x + 0 == 0 || y + 0 == 0)
        next
    if (drawn)
        add_point(role, $2, name, group, x + 0, y + 0, $8)
    if (rivals == "best" && role == "rival")
        rivals_there = 1
    if (rivals == "best" && (role == "rival" || role == "native"))
        improve_best(group, x + 0, y + 0)
    count_group(group)
}

# --- how -----------------------------------------------------------------------------------------

# Sorts the array by insertion, because it has few elements.
function sort(array, count,   i, j, held) {
    for (i = 2; i <= count; i++) {
        held = array[i]
        for (j = i - 1; j > 0 && array[j] > held; j--)
            array[j + 1] = array[j]
        array[j + 1] = held
    }
}

function add_tick(ticks, text, at) {
    return ticks (ticks == "" ? "" : ", ") quote(text) " " at
}

# Returns ticks at powers of two, at most ten.
function size_ticks(   first, last, step, ticks, at) {
    for (first = 1; first * 2 <= xs[1]; first *= 2)
        ;
    last = xs[x_count]
    for (step = 2; first * step ^ 10 <= last; step *= 2)
        ;
    for (at = first; at <= last; at *= step)
        ticks = add_tick(ticks, size_text(at), at)
    return ticks
}

# Returns ticks at the numbers of ranks, except those that are too close to the tick before.
function rank_ticks(   i, ticks, before) {
    for (i = 1; i <= x_count; i++)
        if (i == 1 || xs[i] / before > (xs[x_count] / xs[1]) ^ 0.04) {
            ticks = add_tick(ticks, xs[i], xs[i])
            before = xs[i]
        }
    return ticks
}

# Returns ticks at powers of ten; if these are few, also at 2 and 5 times them. Sets y_from and y_to.
function time_ticks(   few, decade, digit, at, ticks, before) {
    few = highest / lowest < 3000
    for (decade = 1e-6; decade <= 1e16; decade *= 10)
        for (digit = 1; digit <= 5; digit = few ? digit * 2 + (digit == 2) : 10) {
            at = sprintf("%.0e", decade * digit) + 0
            if (at > lowest && y_from == "") {
                y_from = before
                ticks = add_tick("", time_text(before), before)
            }
            before = at
            if (y_from != "" && y_to == "") {
                ticks = add_tick(ticks, time_text(at), at)
                if (at >= highest)
                    y_to = at
            }
        }
    return ticks
}

function group_text(group) {
    return kind == "ranks" ? size_text(group + 0) " bytes" : group " ranks"
}

function title(   text) {
    if (ENVIRON["PLOT_TITLE"] != "")
        return ENVIRON["PLOT_TITLE"]
    return first_op (group_count > 1 ? "" : (kind == "ranks" ? ", " : " on ") group_text(only_group))
}

# Returns the legend of a curve. It has parameters only if the same algorithm also has other curves.
function legend(c,   text) {
    text = curve_name[c]
    if (variants[curve_algorithm[c], curve_group[c]] == 1)
        text = curve_algorithm[c]
    if (curve_role[c] == "best")
        text = "best of MPI's settings"
    else if (curve_role[c] == "native")
        text = "native: MPI's default"
    else if (curve_role[c] == "wire")
        text = "wire: one message to one other host"
    else if (text == "auto")
        text = "auto: what libcoll chooses"
    return text (group_count > 1 ? ", " group_text(curve_group[c]) : "")
}

# Returns the line style of a curve. Most colours are from Okabe and Ito, which colour-blind people can distinguish. MPI's
# curves are black and red. auto is wide and below the algorithm that it chose. Groups differ in dashes.
function style(c,   role, name, dashes) {
    role = curve_role[c]
    name = curve_name[c]
    dashes = groups[curve_group[c]]
    if (role == "wire")
        return "with lines linewidth 2 dashtype " dashes + 1 " linecolor rgb '#777777'"
    if (role == "native")
        return with_points("#000000", 2.5, 5, dashes)
    if (role == "best")
        return with_points("#D55E00", 2.5, 7, dashes)
    if (name == "auto")
        return with_points("#56B4E9", 7, 7, dashes)
    if (!(name in look))
        look[name] = look_count++
    return with_points(hues[look[name] % 6 + 1], role == "rival" ? 1 : 2, \
                       symbols[look[name] % 7 + 1], dashes)
}

function with_points(colour, width, point, dashes) {
    return "with linespoints linewidth " width " dashtype " dashes " pointtype " point \
        " pointsize 1.3 linecolor rgb '" colour "'"
}

function emit_data(c,   i) {
    print "$curve" c " << END"
    for (i = 1; i <= x_count; i++)
        if ((c, xs[i]) in curve_at)
            print xs[i], curve_at[c, xs[i]]
    print "END"
}

# Prints the plot command. Curves are drawn in this order: auto, libcoll's algorithms, MPI's, the wire.
function emit_plot(   c, i, count, roles, text) {
    count = split("auto ours native best rival wire", roles, " ")
    for (i = 1; i <= count; i++)
        for (c = 1; c <= curves; c++)
            if (roles[i] == (curve_name[c] == "auto" ? "auto" : curve_role[c])) {
                text = text (text == "" ? "plot " : ", ") "$curve" c " " style(c) \
                    " title " quote(legend(c))
            }
    print text
}

# Prints the settings of the picture. Its size grows with the legend, which has about 24 curves in a column.
function emit_canvas(   c, width, columns, letters, most_letters) {
    for (c = 1; c <= curves; c++) {
        letters = length(legend(c))
        most_letters = letters > most_letters ? letters : most_letters
    }
    columns = int((curves + 23) / 24)
    width = 650 + columns * (60 + 9 * most_letters)
    width = width > 1000 ? width : 1000
    print "set terminal pngcairo noenhanced size " width ",650 font 'DejaVu Sans,12'"
    print "set encoding utf8"
    print "set title " quote(title()) " font ',15'"
    print "set key outside right top vertical Left reverse samplen 2.5 spacing 1.2"
    print "set grid linetype 1 linewidth 1 linecolor rgb '#DDDDDD'"
    print "set border 3 linecolor rgb '#555555'"
    print "set tics textcolor rgb '#222222'"
}

function emit_axes(   ticks, room) {
    sort(xs, x_count)
    room = x_count > 1 ? (xs[x_count] / xs[1]) ^ 0.03 : 2
    print "set logscale x 2"
    print "set xrange [" xs[1] / room ":" xs[x_count] * room "]"
    print "set xtics nomirror (" (kind == "ranks" ? rank_ticks() : size_ticks()) ")"
    print "set xlabel " quote(kind == "ranks" ? "ranks" : "size (bytes)")
    if (kind == "link") {
        print "set yrange [0:" (highest > 1 ? highest * 1.05 : 1.05) "]"
        print "set ytics nomirror"
        print "set ylabel 'speed, as a fraction of that of the wire'"
        print "set arrow from graph 0, first 1 to graph 1, first 1 nohead dashtype 2 linewidth 2" \
            " linecolor rgb '#777777' back"
        print "set label 'wire: one message to one other host; nothing is faster'" \
            " at graph 0.99, first 1 right offset 0,0.6 textcolor rgb '#777777'"
        return
    }
    ticks = time_ticks()
    print "set logscale y 10"
    print "set yrange [" y_from ":" y_to "]"
    print "set ytics nomirror (" ticks ")"
    print "set ylabel 'median time'"
}

function check_names(   i, known) {
    for (i in names)
        known = known " " i
    for (i in chosen)
        if (!(i in met))
            fail("--algorithms: no row of '" i "'; there are:" known)
    if (points)
        return
    if (kind == "link")
        fail("nothing to draw: no row has of_wire; run coll-bench with two ranks or more")
    fail("nothing to draw: no row has a size and a time above 0")
}

# Removes the curve of the best of MPI's settings if only native was measured, because the two would be equal.
function drop_best(   c) {
    for (c = 1; c <= curves; c++)
        if (curve_role[c] == "best")
            curve_role[c] = "hidden"
}

END {
    if (failed)
        exit 1
    check_names()
    if (!rivals_there)
        drop_best()
    emit_canvas()
    split("#0072B2 #E69F00 #009E73 #CC79A7 #882255 #A6761D", hues, " ")
    split("9 11 13 4 6 8 10", symbols, " ")
    emit_axes()
    for (c = 1; c <= curves; c++)
        emit_data(c)
    emit_plot()
}
