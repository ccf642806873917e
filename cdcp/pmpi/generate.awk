# Fills in a template for the functions of an MPI library:
#
#   awk -f generate.awk BY-HAND.c ... DECLARATIONS TEMPLATE.in
#
# DECLARATIONS is mpi.h after the preprocessor. The functions are those that take a communicator and
# those that the C files define by hand. In the template, the lines from "@each@" (or
# "@each passed@": only those not defined by hand) to "@end@" come once for each function:
#
#   @result@ @MPI@ @name@   its result type, MPI or MPIX, and the name behind that
#   @parameters@            as declared
#   @arguments@             their names
#   @substituted@           the same, with what stands for MPI_COMM_WORLD in its place
#   @kind@                  of communication: collective, point (to point) or neither
#   @outcome@               what it returns: code, by way of coll_world_made() where it makes a
#                           communicator, which it has waited for

FILENAME ~ /\.c$/ {
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
    passed_only = $2 == "passed@"
    block = ""
    next
}
$1 == "@end@" {
    repeated = 0
    for (f = 1; f <= functions; f++)
        if (!passed_only || !(name[f] in by_hand))
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

# Keeps a function whose calls are to be met.
function keep(head, parameters) {
    if (head !~ /^[A-Za-z_]+ MPIX?_[A-Z][a-z0-9_]*$/ || parameters ~ /\.\.\./)
        return
    if (!(name_of(head) in by_hand) && parameters !~ /MPI_Comm [a-z]/)
        return
    functions++
    result[functions] = substr(head, 1, index(head, " ") - 1)
    name[functions] = name_of(head)
    parameters_of[functions] = parameters
}

# The names of PARAMETERS; each communicator among them inside FUNCTION(), unless that is "".
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

function kind(bare) {
    if (bare ~ /[Ss]end|[Rr]ecv|[Pp]robe/)
        return "point"
    if (bare ~ /^I?([Bb]arrier|[Bb]cast|[Gg]ather|[Ss]catter|[Aa]ll|[Rr]educe|[Ss]can|[Ee]xscan|[Nn]eighbor)/)
        return "collective"
    return "neither"
}

# A call with a request makes its communicator later.
function outcome(parameters) {
    if (parameters !~ /MPI_Comm \*/ || parameters ~ /MPI_Request/)
        return "code"
    match(parameters, /MPI_Comm \* ?[a-z_]+/)
    return "coll_world_made(code, *" name_of(substr(parameters, RSTART, RLENGTH)) ")"
}

function filled(f,    text, bare) {
    bare = name[f]
    sub(/^MPIX?_/, "", bare)
    text = block
    gsub(/@result@/, result[f], text)
    gsub(/@MPI@/, substr(name[f], 1, index(name[f], "_") - 1), text)
    gsub(/@name@/, bare, text)
    gsub(/@parameters@/, parameters_of[f], text)
    gsub(/@arguments@/, arguments(parameters_of[f], ""), text)
    gsub(/@substituted@/, arguments(parameters_of[f], "coll_dcp_comm"), text)
    gsub(/@kind@/, kind(bare), text)
    gsub(/@outcome@/, outcome(parameters_of[f]), text)
    return text
}
