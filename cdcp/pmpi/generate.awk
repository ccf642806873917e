# SPDX-License-Identifier: BSD-3-Clause
# Fills in a template for the functions of an MPI library:
#
#   awk -f generate.awk BY-HAND.c ... DECLARATIONS TEMPLATE.in
#
# DECLARATIONS is mpi.h after the preprocessor. The functions are all that take a communicator, and all that
# the C files and headers define by hand. In these files FORM(MPI_X) defines MPI_X and MPI_X_c,
# OTHER_FORMS(X, Ix, ...) defines the nonblocking and the persistent form of MPI_X, and ALL_FORMS defines
# MPI_X and these forms. In the template, the lines from "@each@" to "@end@" are repeated for each function.
# After "@each passed@" they are repeated only for functions not defined by hand, after "@each watched@" for
# the functions that watch/ records, with or without a communicator. In these lines,
#
#   @result@ @MPI@ @name@   its result type, MPI or MPIX, and the rest of the name
#   @parameters@            its parameters, as declared
#   @arguments@             their names
#   @substituted@           the same, with MPI_COMM_WORLD replaced
#   @kind@                  of communication: collective, point (to point) or neither
#   @sent@                  a statement that counts the message of a send, or nothing
#   @outcome@               the value that it returns: code, or coll_world_made(code, ...) if it creates a
#                           communicator and has waited for the other ranks
#
# and for watch/:
#
#   @recorded@              initialisers of a watch_call, from the parameters that it keeps
#   @waits@ @manner@ @agreed@ @rooted@ @reduces@   the parts of a row of watch_calls (watch/calls.h)

FILENAME ~ /\.[ch]$/ {
    if (match($0, /^int FORM\(MPI_[A-Z][a-z0-9_]*\)\(/)) {
        form = substr($0, 10, RLENGTH - 11)
        by_hand[form] = by_hand[form "_c"] = 1
    }
    if (/^(ALL|OTHER)_FORMS\([A-Z]/) {
        split(substr($0, index($0, "(") + 1), form_name, /, */)
        form = "MPI_" form_name[2]
        by_hand[form] = by_hand[form "_c"] = 1
        form = form_name[1] "_init"
        by_hand["MPI_" form] = by_hand["MPI_" form "_c"] = by_hand["MPIX_" form] = 1
        if (/^ALL/)
            by_hand["MPI_" form_name[1]] = by_hand["MPI_" form_name[1] "_c"] = 1
    }
    if (match($0, /^[a-zA-Z_]+ MPIX?_[A-Z][a-z0-9_]*\(/))
        by_hand[name_of(substr($0, 1, RLENGTH - 1))] = 1
    next
}
FILENAME !~ /\.in$/ {
    if ($0 !~ /^#/)
        declarations = declarations " " $0
    next
}
FNR == 1 {
    read_declarations()
}
$1 ~ /^@each/ {
    repeated = 1
    which = $1 == "@each@" ? "" : $2
    block = ""
    next
}
$1 == "@end@" {
    repeated = 0
    for (f = 1; f <= functions; f++)
        if (is_among(which, f))
            printf "%s", filled(f)
    next
}
repeated {
    block = block $0 "\n"
    next
}
{
    print
}

function is_among(those, f) {
    if (those == "watched@")
        return result[f] == "int" && waits(bare_name(f)) != "NO"
    if (!(name[f] in by_hand) && parameters_of[f] !~ /MPI_Comm [a-z]/)
        return 0
    return those == "" || !(name[f] in by_hand)
}

# "int MPI_Send" -> "MPI_Send"; "const int counts[]" -> "counts"
function name_of(declared) {
    gsub(/\[[^]]*\]/, "", declared)
    sub(/.*[ *]/, "", declared)
    return declared
}

function read_declarations(    count, i, text, open) {
    gsub(/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)/, "", declarations)
    count = split(declarations, parts, ";")
    for (i = 1; i <= count; i++) {
        text = parts[i]
        gsub(/[ \t]+/, " ", text)
        gsub(/^ | $/, "", text)
        open = index(text, "(")
        keep(substr(text, 1, open - 1), substr(text, open + 1, length(text) - open - 1))
    }
}

# Stores a declaration if it is a function of MPI.
function keep(head, parameters) {
    if (head !~ /^[A-Za-z_]+ MPIX?_[A-Z][a-z0-9_]*$/ || parameters ~ /\.\.\./)
        return
    functions++
    result[functions] = substr(head, 1, index(head, " ") - 1)
    name[functions] = name_of(head)
    parameters_of[functions] = parameters
}

# Returns the names of PARAMETERS, with each communicator as the argument of FUNCTION_NAME unless that
# is "".
function arguments(parameters, function_name,    count, i, list, argument) {
    count = split(parameters, parameter, /, */)
    for (i = 1; i <= count; i++) {
        argument = name_of(parameter[i])
        if (function_name && parameter[i] ~ /^MPI_Comm [a-z]/)
            argument = function_name "(" argument ")"
        list = list (i > 1 ? ", " : "") argument
    }
    return list
}

# Returns the name without the _c of large counts.
function plain(bare) {
    sub(/_c$/, "", bare)
    return bare
}

function kind(bare) {
    if (bare ~ /[Ss]end|[Rr]ecv|[Pp]robe/)
        return "point"
    if (bare ~ /^I?([Bb]arrier|[Bb]cast|[Gg]ather|[Ss]catter|[Aa]ll|[Rr]educe|[Ss]can|[Ee]xscan|[Nn]eighbor)/)
        return "collective"
    return "neither"
}

# Returns @sent@. A persistent request sends later.
function sent(bare) {
    bare = plain(bare)
    if (bare !~ /^(Bsend|I[bsr]?send)$/ && bare !~ /^Isendrecv(_replace)?$/)
        return ""
    return sprintf("\n    coll_report_sent(%s, %s, dest, comm);", bare == "Isendrecv" ? "sendcount" : "count",
        bare == "Isendrecv" ? "sendtype" : "datatype")
}

# Returns @outcome@. A call with a request creates its communicator later.
function outcome(parameters) {
    if (parameters !~ /MPI_Comm \*/ || parameters ~ /MPI_Request/)
        return "code"
    match(parameters, /MPI_Comm \* ?[a-z_]+/)
    return "coll_world_made(code, *" name_of(substr(parameters, RSTART, RLENGTH)) ")"
}

function bare_name(f,    bare) {
    bare = name[f]
    sub(/^MPIX?_/, "", bare)
    return bare
}

# Returns what a call waits for, for watch/: NOTE if it waits for nothing but is recorded, NO if it isn't
# recorded.
function waits(bare) {
    bare = plain(bare)
    if (bare ~ /^Wait(all|any|some)?$/)
        return "REQUESTS"
    if (bare ~ /^Start(all)?$/)
        return "START"
    if (bare == "Probe")
        return "PROBE"
    if (bare ~ /^I?[Ss]endrecv/)
        return "EXCHANGE"
    if (bare ~ /^([BSR]?send|Send|I[bsr]?send|[BSR]?send_init|Send_init)$/)
        return "SEND"
    if (bare ~ /^(I?[Rr]ecv|Recv_init|Mprobe)$/) # MPI_Mrecv then receives what MPI_Mprobe has taken
        return "RECEIVE"
    if (kind(bare) == "collective")
        return "COLLECTIVE"
    if (bare ~ /^(Comm_(i?dup|dup_with_info|split|split_type|create|spawn|spawn_multiple|accept|connect|free|disconnect)|Cart_(create|sub)|(Dist_)?[Gg]raph_create(_adjacent)?|Intercomm_(create|merge)|Win_(create|create_dynamic|allocate|allocate_shared)|File_open)$/)
        return "COLLECTIVE"
    if (bare ~ /^(Comm_create_group|Mrecv|Imrecv|Win_(fence|free|lock|lock_all|unlock|unlock_all|flush|flush_all|complete|wait|start)|File_(close|sync|(read|write)(_at|_ordered)?(_all)?))$/)
        return "PLAIN"
    return bare ~ /^(Type_free|Comm_set_name|Cancel|Improbe)$/ ? "NOTE" : "NO"
}

function manner(bare) {
    bare = plain(bare)
    if (bare ~ /_init$/)
        return "PERSISTENT"
    if (bare ~ /^I[a-z]/ && bare !~ /^Intercomm|^Init/ || bare == "Comm_idup")
        return "STARTED"
    return "BLOCKING"
}

# Returns which data must have the same size and type on all ranks. watch/ records no large counts.
function agreed(bare) {
    bare = tolower(bare)
    sub(/_init$/, "", bare)
    sub(/^i/, "", bare)
    if (bare ~ /^(bcast|reduce|allreduce|scan|exscan|reduce_scatter_block)$/)
        return "OWN"
    if (bare == "gather")
        return "TO_ROOT"
    if (bare == "scatter")
        return "FROM_ROOT"
    if (bare ~ /^(allgather|alltoall)$/)
        return "RECEIVED"
    if (bare ~ /^(allgatherv|reduce_scatter)$/)
        return "COUNTS"
    return "NONE"
}

# Returns initialisers from a call's parameters, which the MPI standard names.
function recorded(bare, parameters,    count, i, argument, member, list, has_comm, parameter) {
    count = split(parameters, parameter, /, */)
    for (i = 1; i <= count; i++) {
        argument = name_of(parameter[i])
        member = ""
        if (parameter[i] ~ /^MPI_Comm [a-z]/ && !has_comm) {
            member = "comm"
            has_comm = 1
        } else if (parameter[i] ~ /^MPI_Comm \*/)
            member = bare ~ /^Comm_(free|disconnect)$/ ? "freed" : "made"
        else if (parameter[i] ~ /^MPI_Request /)
            member = waits(bare) ~ /^(REQUESTS|START|NOTE)$/ ? "requests" : "request"
        else if (parameter[i] ~ /^MPI_Datatype \*/)
            member = "freed_type"
        else if (argument == "comm_name")
            member = "name"
        else if (bare == "Allreduce" && argument ~ /^(send|recv)buf$/)
            member = argument
        else if (parameter[i] ~ /^MPI_Op /)
            member = "op"
        else if (parameter[i] ~ /^int /&& argument in member_of)
            member = member_of[argument]
        else if (parameter[i] ~ /^MPI_Datatype [a-z]/ && argument in member_of)
            member = member_of[argument]
        else if (parameter[i] ~ /^const int / && argument == "recvcounts")
            member = "counts"
        if (member == "from_count" && bare ~ /_block/)
            member = "count"
        if (member)
            list = list (list ? ", " : "") "." member " = " argument
        if (member == "requests" && argument == "request")
            list = list ", .count = 1"
    }
    return list
}
BEGIN {
    count = split("root peer dest peer source from tag tag sendtag tag recvtag from_tag count count incount count " \
        "sendcount count recvcount from_count datatype type sendtype type recvtype from_type", word, " ")
    for (i = 1; i < count; i += 2)
        member_of[word[i]] = word[i + 1]
}

function filled(f,    text, bare) {
    bare = bare_name(f)
    text = block
    gsub(/@result@/, result[f], text)
    gsub(/@MPI@/, substr(name[f], 1, index(name[f], "_") - 1), text)
    gsub(/@name@/, bare, text)
    gsub(/@parameters@/, parameters_of[f], text)
    gsub(/@arguments@/, arguments(parameters_of[f], ""), text)
    gsub(/@substituted@/, arguments(parameters_of[f], "coll_dcp_comm"), text)
    gsub(/@kind@/, kind(bare), text)
    gsub(/@outcome@/, outcome(parameters_of[f]), text)
    gsub(/@sent@/, sent(bare), text)
    gsub(/@recorded@/, recorded(bare, parameters_of[f]), text)
    gsub(/@waits@/, waits(bare), text)
    gsub(/@manner@/, manner(bare), text)
    gsub(/@agreed@/, agreed(bare), text)
    gsub(/@rooted@/, parameters_of[f] ~ /int root *(,|$)/ ? "true" : "false", text)
    gsub(/@reduces@/, parameters_of[f] ~ /MPI_Op op *(,|$)/ ? "true" : "false", text)
    return text
}
