#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that the documents agree with the programs: the tables made from coll-info, the options in --help
# and in man pages, the sections of man pages, links, and the programs that pages show.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../support/programs.sh"

"$source_dir/scripts/tables" --check "$build/coll-info" >out 2>err || fail "tables differ"

# Every setting has all four columns, and names each value that is allowed.
grep -q '(null)\||  *|' "$source_dir/docs/settings.md" && fail "a setting without values or default"
# allows SETTING COMMAND...: COMMAND refuses a wrong value and lists the allowed ones, which must be in the
# table.
allows() {
    setting=$1
    shift
    env "$setting=nonsense" timeout -k 10 60 "$@" >out 2>err </dev/null && fail "$setting=nonsense is taken"
    grep -m 1 "$setting=nonsense: .*allowed: " err | sed 's/.*allowed: //; s/,//g' >allowed
    [ -s allowed ] || fail "$setting: what is allowed isn't said"
    for value in $(cat allowed); do
        grep "^| .$setting. " "$source_dir/docs/settings.md" | grep -q -w -e "$value" ||
            fail "docs/settings.md: $setting may also be $value"
    done
}
allows COLL_WAIT "$build/coll-info"
allows COLL_PROGRESS "$build/coll-info"
allows COLL_LEARN "$build/coll-info"
printf '1 1 1 5 6\n1 1 2 7 8\n' >points
allows COLL_KMEANS_KERNEL "$build/coll-kmeans" --k 1 points --centroids c.npy --assign a.npy
[ ! -x "$build/coll-run" ] ||
    allows COLL_DCP_TRANSPORT "$build/coll-run" -n 3 --dcp 1 -- "$build/tests/interposed/calls"

# Prints the options that begin a line of the table of --help, before the description.
options_of_help() {
    sed -n 's/^ \{1,4\}\(--.*\)/\1/p' | sed 's/   *[^ -].*//' | grep -o -e '--[a-z][a-z-]*' | sort -u
}

# Prints the options that begin an item of the man page.
options_of_man() {
    awk 'item && /^\.B/ { print } { item = /^\.TP/ }' "$1" | sed 's/\\-/-/g' |
        grep -o -e '--[a-z][a-z-]*' | sort -u
}

# compare PAGE COMMAND...: compares the options of PAGE with those in the help of all COMMANDs, each of
# which may be several words.
compare() {
    page=$source_dir/man/$1.1
    shift
    : >helps
    for command; do
        # shellcheck disable=SC2086 # words
        "$build"/$command --help >>helps 2>err || fail "$command --help"
    done
    options_of_help <helps >of_help
    options_of_man "$page" >of_man
    [ "$(wc -l <of_help)" -ge 2 ] || fail "$1: no options found in its help"
    diff of_help of_man >out || fail "$(basename "$page") (>) has other options than --help (<)"
}
compare coll-bench coll-bench "coll-bench started" "coll-bench dcp"
compare coll-hlot coll-hlot
compare coll-info coll-info "coll-info draw" "coll-info explain dcp" "coll-info learnt" "coll-info place" \
    "coll-info replay"
compare coll-kmeans coll-kmeans "coll-kmeans predict"
compare coll-popcg coll-popcg
compare coll-profile coll-profile "coll-profile --dcp"
[ ! -x "$build/coll-run" ] || compare coll-run coll-run
[ ! -x "$build/coll-watch" ] || compare coll-watch coll-watch
compare coll-words coll-words "coll-words features" "coll-words encode" "coll-words train" \
    "coll-words test" "coll-words curve" "coll-words sheet"

for page in "$source_dir"/man/*.1; do
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" ENVIRONMENT EXAMPLES "SEE ALSO"; do
        grep -q "^\.SH $section\$" "$page" || fail "$(basename "$page") has no $section"
    done
done

# The scripts whose head is their help print all of it, called from any directory by a relative name.
for script in $(cd "$source_dir/scripts" && grep -s -l '^ *sed -n .[23],/^set/' ./*); do
    (cd "$source_dir/tests" && "../scripts/$script" --help) >out 2>err || fail "scripts/$script --help"
    last=$(sed -n '/^set/q; s/^# \{0,1\}//p' "$source_dir/scripts/$script" | tail -n 1)
    [ "$(tail -n 1 out)" = "$last" ] || fail "scripts/$script --help does not end with: $last"
done

# Checks links to files and to headings in them. GitHub derives the names of headings in this way.
headings() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}
for file in "$source_dir"/*.md "$source_dir"/docs/*.md; do
    grep -o '](\([^)]*\))' "$file" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*://' >links
    while read -r link; do
        target=${link%%#*}
        target=${target:+$(dirname "$file")/$target}
        target=${target:-$file}
        [ -e "$target" ] || fail "$(basename "$file"): nothing at $link"
        case $link in
        *#*) headings "$target" | grep -qx -e "${link#*#}" || fail "$(basename "$file"): no heading $link" ;;
        esac
    done <links
done

# The picture of the rooms has each room that scripts/check-rooms knows, but for those of single operations.
sed -n "/^rooms='/,/^'/p" "$source_dir/scripts/check-rooms" | sed '1d; $d' >rooms
[ -s rooms ] || fail "no rooms in scripts/check-rooms"
for room in $(sed '/^lib\/bcast /d; s,[a-z]*/coll-,coll-,g' rooms); do
    grep -q ">$room</text>" "$source_dir/docs/rooms.svg" || fail "docs/rooms.svg: no $room"
done

if command -v python3 >/dev/null; then
    python3 "$source_dir/scripts/draw-kmeans-bound" | cmp -s - "$source_dir/docs/kmeans-bound.svg" ||
        fail "docs/kmeans-bound.svg is not what scripts/draw-kmeans-bound draws"
fi

# The site of "make html", where that was run: each link to a file, and each picture, is there.
if [ -e "$build/html/index.html" ]; then
    grep -r -o --include='*.html' -E '(href|src)="[^"#?]+' "$build/html" |
        sed 's|/[^/]*\.html:[a-z]*="|/|; /\/[a-z]*:/d' | sort -u >links
    [ -s links ] || fail "the site has no links"
    while read -r file; do
        [ -e "$file" ] || fail "the site lacks $file"
    done <links
    for page in "$source_dir"/man/*.[137]; do
        name=$(basename "$page")
        [ -e "$build/html/man/${name%.*}.html" ] || fail "the site lacks the manual page $name"
    done
fi

# The version is that of configure.ac everywhere.
version=$(sed -n 's/^AC_INIT(\[libcoll\], \[\([^]]*\)\].*/\1/p' "$source_dir/configure.ac")
# carries FILE LINE: FILE must have LINE, which has the version.
carries() {
    grep -q -x -F -e "$2" "$source_dir/$1" || fail "$1 is not of version $version of configure.ac: no line \"$2\""
}
carries CITATION.cff "version: $version"
carries debian/changelog "libcoll ($version) unstable; urgency=medium"
carries packaging/guix.scm "  (version \"$version\")"
carries python/pyproject.toml "version = \"$version\""
grep -q "^## $version (" "$source_dir/CHANGELOG.md" || fail "CHANGELOG.md has no section on $version"

# The container is built with the packages that docs/building.md names; scripts/packages calls Open MPI's mpi.
sed -n '/^RUN .tmp.packages/,/[^\\]$/p' "$source_dir/packaging/Containerfile" >installs
needed=$(sed -n 's/^| building | `\(.*\)` |$/\1/p' "$source_dir/docs/building.md" | sed 's/openmpi-bin libopenmpi-dev/mpi/')
[ -n "$needed" ] || fail "docs/building.md names no packages for building"
for package in $needed; do
    grep -q -w -e "$package" installs || fail "packaging/Containerfile doesn't install $package"
done

# shown PAGE LANGUAGE FILE BEGINNING: checks that the program on PAGE is FILE from the line BEGINNING on.
shown() {
    sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/p" "$source_dir/$1" | sed '1d; $d' >of_page
    sed -n "/^$4/,\$p" "$source_dir/$3" | diff - of_page >out || fail "$1's program (>) is not $3 (<)"
}
shown README.md c examples/first.c '#include <coll.h>'
shown docs/languages.md fortran examples/first_f08.f90 'program first'
shown docs/languages.md python examples/first.py 'import coll'
echo "all as it should be"
