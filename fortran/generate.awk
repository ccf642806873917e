# SPDX-License-Identifier: BSD-3-Clause
# Fills in a template for the operations that coll.h declares:
#
#   awk -f generate.awk coll.h TEMPLATE.in
#
# An operation is a function that takes a communicator, and otherwise only arguments that are in the
# tables below. The template's lines from "@each@" to "@end@" are repeated for each operation: once
# with default integers and once with those of large counts; only once if the operation has no
# counts. Lines after "@each name@" are repeated once for each operation in any case. Marks in these
# lines are replaced:
#
#   @name@ @specific@       COLL_Bcast; coll_f08_bcast_int or coll_f08_bcast_large
#   @dummies@               the names of its arguments, as in mpi_f08
#   @declarations@          their declarations
#   @parameters@            the parameters of the C function behind it
#   @call@                  COLL_Bcast(...): the call of libcoll's function
#   @lists@                 the number of its lists, which have an element for each rank or neighbour
#   @root@                  its root, COLL_F08_ALL, COLL_F08_OWN or COLL_F08_NEIGHBORS
#   @buffers@               its two buffers; NULL for missing ones
#   @request@               its request, or NULL

BEGIN {
    # Kinds of arguments by their C declarations; see declaration() and so on.
    kind_of["const void * "] = "send"
    kind_of["void * "] = "buffer"
    kind_of["MPI_Count "] = "count"
    kind_of["const MPI_Count []"] = "counts"
    kind_of["const MPI_Aint []"] = "places"
    kind_of["const MPI_Datatype []"] = "types"
    kind_of["int "] = "root"
    kind_of["COLL_Request * "] = kind_of["DCP_Request * "] = "request"
    handles = split("Comm Datatype Op Info", handle, " ")
    for (i = 1; i <= handles; i++)
        kind_of["MPI_" handle[i] " "] = handle[i]

    # Arguments that have another name in mpi_f08.
    renamed["send_buffer"] = "sendbuf"
    renamed["receive_buffer"] = "recvbuf"
    renamed["send_count"] = "sendcount"
    renamed["send_counts"] = "sendcounts"
    renamed["receive_count"] = "recvcount"
    renamed["receive_counts"] = "recvcounts"
    renamed["displacements"] = "displs"
    renamed["send_displacements"] = "sdispls"
    renamed["receive_displacements"] = "rdispls"
    renamed["send_type"] = "sendtype"
    renamed["receive_type"] = "recvtype"
    renamed["send_types"] = "sendtypes"
    renamed["receive_types"] = "recvtypes"
    renamed["type"] = "datatype"
}

FILENAME !~ /\.in$/ {
    if ($0 !~ /^#/)
        header = header " " $0
    next
}
FNR == 1 {
    read_declarations()
}
$1 == "@each" || $1 == "@each@" {
    repeated = 1
    once = $1 == "@each"
    block = ""
    next
}
$1 == "@end@" {
    repeated = 0
    for (f = 1; f <= functions; f++) {
        printf "%s", filled(f, once || parameters_of[f] !~ /MPI_Count/ ? "" : "_int")
        if (!once && parameters_of[f] ~ /MPI_Count/)
            printf "%s", filled(f, "_large")
    }
    next
}
repeated {
    block = block $0 "\n"
    next
}
{
    print
}

function read_declarations(    count, i, text, open) {
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", header)
    count = split(header, parts, ";")
    for (i = 1; i <= count; i++) {
        text = parts[i]
        gsub(/[ \t]+/, " ", text)
        sub(/^ /, "", text)
        open = index(text, "(")
        if (text ~ /^int (COLL|DCP)_[A-Za-z_]+\(/ && text ~ /MPI_Comm comm[,)]/)
            add_operation(substr(text, 5, open - 5), substr(text, open + 1, length(text) - open - 1))
    }
}

# Adds an operation to the list. Operations with other arguments are written by hand.
function add_operation(name, parameters,    i) {
    split_parameters(parameters)
    for (i = 1; i <= arguments; i++)
        if (!kind[i])
            return
    functions++
    name_of[functions] = name
    parameters_of[functions] = parameters
}

# Sets kind[], given[] and dummy[]: the kind of each of PARAMETERS, its name in C and in Fortran.
function split_parameters(parameters,    i, type, list) {
    arguments = split(parameters, list, /, */)
    for (i = 1; i <= arguments; i++) {
        type = list[i]
        match(type, /[a-z_]+(\[\])?$/)
        given[i] = substr(type, RSTART, RLENGTH)
        type = substr(type, 1, RSTART - 1)
        if (sub(/\[\]$/, "", given[i]))
            type = type "[]"
        sub(/\*$/, "* ", type)
        kind[i] = kind_of[type]
        dummy[i] = given[i] in renamed ? renamed[given[i]] : given[i]
    }
}

# Returns the Fortran declaration of argument I.
function declaration(i, large, started,    asynchronous) {
    asynchronous = started ? ", asynchronous" : ""
    if (kind[i] == "send" || kind[i] == "buffer")
        return "type(*), dimension(..)" (kind[i] == "send" ? ", intent(in)" : "") \
            (started ? asynchronous : ", contiguous") " :: " dummy[i]
    if (kind[i] == "count")
        return "integer" (large ? "(MPI_COUNT_KIND)" : "") ", intent(in) :: " dummy[i]
    if (kind[i] == "counts")
        return "integer" (large ? "(MPI_COUNT_KIND)" : "") ", intent(in) :: " dummy[i] "(*)"
    if (kind[i] == "places")
        return "integer" (large || wide_places ? "(MPI_ADDRESS_KIND)" : "") ", intent(in) :: " dummy[i] "(*)"
    if (kind[i] == "types")
        return "type(MPI_Datatype), intent(in) :: " dummy[i] "(*)"
    if (kind[i] == "root")
        return "integer, intent(in) :: " dummy[i]
    if (kind[i] == "request")
        return "type(" request_type ")" ", intent(out) :: " dummy[i]
    return "type(MPI_" kind[i] "), intent(in) :: " dummy[i]
}

# Returns the parameter of the C function that Fortran calls.
function parameter(i, large) {
    if (kind[i] == "send" || kind[i] == "buffer")
        return "CFI_cdesc_t *" dummy[i]
    if (kind[i] == "request")
        return "coll_f08_request *" dummy[i]
    if (kind[i] == "count" || kind[i] == "counts")
        return "const " (large ? "MPI_Count" : "MPI_Fint") " *" dummy[i]
    if (kind[i] == "places")
        return "const " (large || wide_places ? "MPI_Aint" : "MPI_Fint") " *" dummy[i]
    return "const MPI_Fint *" dummy[i]
}

# Returns the argument that is passed to libcoll's function.
function argument(i, large,    in_place, conversion) {
    if (kind[i] == "send" || kind[i] == "buffer")
        return "coll_f08_address(" dummy[i] ")"
    if (kind[i] == "request")
        return "&" dummy[i] "->" (request_type == "DCP_Request" ? "dcp" : "coll")
    if (kind[i] ~ /^(counts|places|types)$/) {
        # In place, arguments that describe the data to send are not read.
        in_place = given[i] ~ /^send_/ ? "coll_f08_address(sendbuf) == MPI_IN_PLACE ? NULL : " : ""
        conversion = kind[i] == "types" ? "types" : \
            kind[i] (large || (kind[i] == "places" && wide_places) ? "_large" : "_int")
        return in_place "coll_f08_" conversion "(&call, call." \
            (given[i] ~ /^send_/ ? "sends" : "receives") ", " dummy[i] ")"
    }
    if (kind[i] == "count" || kind[i] == "root")
        return "*" dummy[i]
    return "MPI_" (kind[i] == "Datatype" ? "Type" : kind[i]) "_f2c(*" dummy[i] ")"
}

function filled(f, suffix,    i, text, large, started, dummies, declared, parameters, call, lists, root, buffers, brought, request, specific) {
    split_parameters(parameters_of[f])
    request_type = name_of[f] ~ /^DCP/ ? "DCP_Request" : "COLL_Request"
    large = suffix == "_large"
    wide_places = name_of[f] ~ /eighbor_alltoallw/ # as in mpi_f08
    started = parameters_of[f] ~ /_Request/
    root = name_of[f] ~ /eighbor/ ? "COLL_F08_NEIGHBORS" : name_of[f] ~ /educe_scatter/ ? "COLL_F08_OWN" : "COLL_F08_ALL"
    buffers[1] = buffers[2] = request = "NULL"
    for (i = 1; i <= arguments; i++) {
        dummies = dummies dummy[i] ", "
        declared = declared "            " declaration(i, large, started) "\n"
        parameters = parameters parameter(i, large) ", "
        call = call (i > 1 ? ", " : "") argument(i, large)
        lists += kind[i] ~ /^(counts|places|types)$/
        if (kind[i] == "root")
            root = "*" dummy[i]
        if (kind[i] == "send" || kind[i] == "buffer")
            buffers[++brought] = dummy[i]
        if (kind[i] == "request")
            request = dummy[i]
    }
    text = replace_mark(block, "@name@", name_of[f])
    specific = tolower(name_of[f]) suffix
    sub(/^coll_/, "", specific)
    text = replace_mark(text, "@specific@", "coll_f08_" specific)
    text = replace_mark(text, "@dummies@", dummies "ierror")
    text = replace_mark(text, "@declarations@\n", declared)
    text = replace_mark(text, "@parameters@", parameters "MPI_Fint *ierror")
    text = replace_mark(text, "@call@", name_of[f] "(" call ")")
    text = replace_mark(text, "@lists@", lists + 0)
    text = replace_mark(text, "@root@", root)
    text = replace_mark(text, "@buffers@", buffers[1] ", " buffers[2])
    return replace_mark(text, "@request@", request)
}

# Returns TEXT with each MARK replaced by VALUE.
function replace_mark(text, mark, value,    at, done) {
    while (at = index(text, mark)) {
        done = done substr(text, 1, at - 1) value
        text = substr(text, at + length(mark))
    }
    return done text
}
