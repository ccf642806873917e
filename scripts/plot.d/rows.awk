# SPDX-License-Identifier: BSD-3-Clause
# Converts coll-bench's JSON, one flat object on each line, to lines of fields separated by tabs:
#   op, algorithm, params, ranks, bytes, median_us, of_wire, file:line
# Any other line is an error. The operands are the files.

function fail(text) {
    print "plot: " text > "/dev/stderr"
    failed = 1
    exit 1
}

# Moves the longest match of PATTERN from the front of `rest` to `token`. Returns false if there is none.
function take(pattern) {
    sub(/^[ \t\r]+/, "", rest)
    if (!match(rest, pattern) || RSTART != 1)
        return 0
    token = substr(rest, 1, RLENGTH)
    rest = substr(rest, RLENGTH + 1)
    return 1
}

# Returns a string without its quotes. Control characters become blanks, because fields are separated by tabs.
function unquote(text) {
    text = substr(text, 2, length(text) - 2)
    gsub(/\\[bfnrt]|\\u00[01][0-9a-fA-F]/, " ", text)
    gsub(/\\"/, "\"", text)
    gsub(/\\\//, "/", text)
    gsub(/\\\\/, "\\", text)
    gsub(/[\001-\037]/, " ", text)
    return text
}

# Fills value[key] and type[key] from LINE. Returns false if LINE is not a flat JSON object.
function parse(line,   key) {
    split("", value)
    split("", type)
    rest = line
    if (!take("^[{]"))
        return 0
    do {
        if (!take(string))
            return 0
        key = unquote(token)
        if (key in type || !take("^:"))
            return 0
        if (take(string)) {
            type[key] = "string"
            value[key] = unquote(token)
        } else if (take(number)) {
            type[key] = "number"
            value[key] = token + 0
        } else if (take("^(null|true|false)")) {
            type[key] = token
        } else {
            return 0
        }
    } while (take("^,"))
    return take("^[}]") && !take("^.")
}

function need(key, wanted, place) {
    if (type[key] != wanted)
        fail(place ": no " wanted " \"" key "\"; only files of coll-bench --json can be drawn")
}

function need_integer(key, least, place) {
    need(key, "number", place)
    if (value[key] < least || value[key] > 2 ^ 53 || value[key] != int(value[key]))
        fail(place ": \"" key "\" must be an integer, " least " or more")
}

# Returns a measured number, or 0 for null, which is not drawn.
function need_measure(key, place) {
    if (type[key] == "null") {
        value[key] = 0
        return
    }
    need(key, "number", place)
    if (value[key] < 0 || value[key] > 1e15)
        fail(place ": \"" key "\" must be from 0 to 1e15")
}

function read(file,   line, count, rows, place, status) {
    while ((status = (getline line < file)) > 0) {
        count++
        if (line ~ /^[ \t\r]*$/)
            continue
        place = file ":" count
        if (!parse(line))
            fail(place ": no JSON object as coll-bench writes it")
        need("op", "string", place)
        need("algorithm", "string", place)
        need("params", "string", place)
        need_integer("ranks", 1, place)
        need_integer("bytes", 0, place)
        need_measure("median_us", place)
        need_measure("of_wire", place)
        print value["op"], value["algorithm"], value["params"], value["ranks"], value["bytes"], \
            value["median_us"], value["of_wire"], place
        rows++
    }
    close(file)
    if (status < 0)
        fail(file ": can't be read")
    if (!rows)
        fail(file ": nothing in it; did coll-bench end well?")
}

BEGIN {
    OFS = "\t"
    OFMT = CONVFMT = "%.15g"
    string = "^\"([^\"\\\\]|\\\\([\"\\\\/bfnrt]|u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]))*\""
    number = "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?"
    for (i = 1; i < ARGC && !failed; i++)
        read(ARGV[i])
    exit failed
}
