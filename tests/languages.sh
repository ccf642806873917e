#!/bin/bash
# The first program in every language prints what it prints in C, and each is one of docs/languages.md.
set -u
source_dir=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/programs.sh"
export COLL_PROFILE=built-in

# first COMMAND...: the lines of three ranks, in the order of the ranks.
first() {
    $limited "$mpirun" -n 3 "$@" >out 2>err </dev/null || fail "$*"
    sort out
}
first "$build/examples/first" >expected

# same LANGUAGE PROGRAM...
same() {
    language=$1
    shift
    first "$@" | diff expected - >differs || fail "$language (>) prints something else than C (<): $(cat differs)"
}
if [ -x "$build/examples/first_cxx" ]; then
    same C++ "$build/examples/first_cxx"
else
    echo "skipped: C++, for want of a compiler"
fi
if [ -x "$build/examples/first_f08" ]; then
    same Fortran "$build/examples/first_f08"
else
    echo "skipped: Fortran, for want of a compiler that knows type(*), dimension(..)"
fi
(
    . "$source_dir/tests/find_python.sh"
    PYTHONPATH=$source_dir/python COLL_LIBRARY=$build/.libs/libcoll.so.0 PYTHONDONTWRITEBYTECODE=1 \
        same Python "$python" "$source_dir/examples/first.py"
) || [ $? -eq 77 ] || exit 1

# shown LANGUAGE FILE BEGINNING: docs/languages.md shows FILE from BEGINNING on.
shown() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$source_dir/docs/languages.md" | sed '1d; $d' >of_page
    sed -n "/^$3/,\$p" "$source_dir/$2" | diff - of_page >out || fail "docs/languages.md (>) is not $2 (<)"
}
shown fortran examples/first_f08.f90 'program first'
shown python examples/first.py 'import coll'
echo "all as it should be"
