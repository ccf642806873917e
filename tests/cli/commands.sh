#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every command in README.md and docs, with fewer ranks and less data than there, and checks its
# result. Commands that are marked "not run", because they need root or minutes, and options that the text
# mentions, are only checked: the programs exist and have these options.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../support/programs.sh"
[ "$launcher" = openmpi ] || {
    echo "skipped: the commands are for Open MPI's mpirun"
    exit 77
}
export COLL_PROFILE=built-in HOME=$work/home PYTHONDONTWRITEBYTECODE=1

pages=("$source_dir/README.md" "$source_dir"/docs/*.md)
mkdir blocks bin home
awk -v into=blocks -f "$source_dir/tests/cli/commands.awk" "${pages[@]}" >list || fail "commands.awk"
[ "$(wc -l <list)" -ge 20 ] || fail "no commands found"

# --- What commands find ---

# Installs libcoll under another root.
prefix=$(sed -n 's/^prefix = //p' "$build/Makefile")
root=$work/root
make -C "$build" install DESTDIR="$root" >out 2>err || fail "make install"
installed=$root$prefix
grep -r -I -n -E '@[A-Za-z_]+@' "$installed" >out && fail "placeholders are installed"
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$installed/lib/pkgconfig
export LD_LIBRARY_PATH=$installed/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# The files that commands use: those of the source tree, a program, a list of hosts and one of racks.
for name in examples scripts tests; do
    ln -s "$source_dir/$name" .
done
cp -r "$source_dir/python" .
ln -s "$build" build
cp "$build/tests/interposed/collectives" program 2>err || cp "$build/examples/first" program
echo 'localhost slots=99' >hosts
echo "SwitchName=rack Nodes=$(uname -n)" >racks.conf
# Extracts the Fortran programs that pages show.
awk '/^```/ { file = "" } file { print >file } /^```fortran$/ { getline; file = $2 ".f90"; print >file }' \
    "$source_dir"/docs/*.md
# 50 images of 28 x 28 pixels with some edges.
{
    printf '\0\0\010\003\0\0\0\062\0\0\0\034\0\0\0\034'
    awk 'BEGIN { for (i = 0; i < 39200; i++) printf "%c", 33 + i * i % 89 }'
} >images

# smaller PROGRAM LINES: replaces PROGRAM by a script that reduces its arguments "$@" with LINES of bash.
smaller() {
    real=$build/$1
    [ -x "$real" ] || real=$(command -v "$1") || return
    printf '#!/bin/bash\n%s\nexec %s "$@"\n' "$2" "$real" >"bin/$1"
    chmod +x "bin/$1"
}
# after OPTION MOST: prints lines that limit the number after OPTION to MOST.
after() {
    echo "for ((i = 1; i < \$#; i++)); do [ \"\${!i}\" = $1 ] || continue; ((i++)); n=\${!i%[KM]}"
    echo "[ \"\${!i}\" = \"\$n\" ] && [ \"\$n\" -le $2 ] || set -- \"\${@:1:i-1}\" $2 \"\${@:i+1}\"; break; done"
}
smaller mpirun "$(after -n 3)"
export MPIRUN=$work/bin/mpirun
smaller coll-kmeans "$(after --k 16)"
smaller coll-words "set -- \"\$@\" --images $work/images"
smaller coll-popcg 'set -- "$@" --grid 32x40 --tolerance 1e-3'
smaller coll-profile '[[ " $* " = *" --dcp "* ]] && set -- "$@" --reps 1 || set -- "$@" --seconds 0.3 --noise 1000'
for program in coll-bench coll-info coll-hlot coll-run; do
    smaller $program ''
done
PATH=$work/bin:$PATH
# Finds the interpreter by its path, because the script that runs it has the same name.
python=$(. "$source_dir/tests/support/find_python.sh" >/dev/null && command -v "$python")
if [ -n "$python" ]; then
    printf '#!/bin/bash\nexec %s "$@"\n' "$python" >bin/python3
    chmod +x bin/python3
fi
# pip must not download anything.
export PIP_NO_INDEX=1 PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# --- Running ---

# lacking BLOCK: prints what is missing for BLOCK, if it is something that libcoll can be built without.
lacking() {
    case $(cat "$1") in
    *coll-run* | *libcoll_pmpi*) [ -x "$build/coll-run" ] || echo "libcoll_pmpi" ;;
    *install-component*) [ -e "$build/.libs/mca_coll_libcoll.so" ] || echo "the component" ;;
    *mpifort*) [ -e "$build/coll_f08.mod" ] || echo "the Fortran module" ;;
    *mpicxx*) [ -x "$build/examples/first_cxx" ] || echo "a C++ compiler" ;;
    *"-m venv"*)
        "$work/bin/python3" -c 'import ensurepip, setuptools, wheel' 2>/dev/null ||
            echo "mpi4py, python3-setuptools, python3-wheel and python3-venv"
        ;;
    *gnuplot* | *--plot*) command -v gnuplot >/dev/null || echo "gnuplot" ;;
    *"coll-hlot draw"*) command -v dot >/dev/null || echo "graphviz" ;;
    esac
}

# run NUMBER WHERE: runs a block as users do. The output must contain the block's lines of comments.
run() {
    block=blocks/$1.sh
    without=$(lacking "$block")
    [ -z "$without" ] || {
        echo "skipped: $2, for want of $without"
        return
    }
    grep -w -e sudo -e apt -e apt-get -e 'make install' "$block" >out &&
        fail "$2 changes the machine: mark it as not to be run"
    sed "s|/usr/local|$installed|g" "$block" >run.sh
    timeout -k 10 60 bash -e run.sh >out 2>err </dev/null || fail "$2 ends with $?: $(cat run.sh)"
    sed -n 's/^ *# //p' "$block" | while read -r line; do
        grep -q -F -e "$line" out || fail "$2: nothing of '$line' comes out"
    done || exit 1
    echo "ran $2"
}

# --- Looking ---

# Prints the options of mpirun. The mpirun of Open MPI 5 describes each option separately.
help_of_mpirun() {
    mpirun --help all | tee out
    grep -q -e --hostfile out && return
    for option in $(grep -o -h -e '--[a-z][a-z-]*' "${pages[@]}" | sort -u); do
        mpirun --help "${option#--}" 2>&1 | grep -q 'unknown option' || echo "$option"
    done
}

# Writes all help of a program, which has its options.
help_of() {
    case $1 in
    scripts/* | tests/run-one) cat "$source_dir/$1" "$source_dir/$1.d"/* 2>/dev/null ;;
    coll-kmeans) for verb in '' predict; do "$build/coll-kmeans" $verb --help; done ;;
    coll-words) for verb in '' features encode train test curve sheet; do "$build/coll-words" $verb --help; done ;;
    coll-bench) for verb in '' started dcp; do "$build/coll-bench" $verb --help; done ;;
    coll-info) for verb in '' draw 'explain dcp' place replay; do "$build/coll-info" $verb --help; done ;;
    coll-profile) for verb in '' --dcp; do "$build/coll-profile" $verb --help; done ;;
    coll-run) cat "$source_dir/scripts/coll-run.in" ;;
    install-component) cat "$source_dir/scripts/install-component" ;;
    configure) "$source_dir/configure" --help ;;
    pkg-config) pkg-config --help ;;
    mpirun) help_of_mpirun ;;
    *) "$build/$1" --help ;;
    esac >"help.${1//\//.}" 2>/dev/null
}
known="coll-bench coll-hlot coll-info coll-kmeans coll-popcg coll-profile coll-run coll-watch coll-words install-component"
known="$known configure mpirun pkg-config tests/run-one $(cd "$source_dir" && find scripts -maxdepth 1 -type f ! -name '*.*')"
for program in $known; do
    help_of "$program"
done
cat help.* >help
# Options of the commands of Slurm, Debian and Python, which need not be installed.
echo '--distribution --overcommit --mpi --build --fail-on --system-site-packages --no-deps ' >>help

# look WHERE TEXT: checks options in TEXT. Options after a program must be its own; others must be options
# of any of libcoll's programs.
look() {
    program=
    for word in ${2//[\"\`\|;()]/ }; do
        name=${word#build/}
        name=${name##*/lib/libcoll/}
        name=${name#./}
        name=${name#../}
        case $word in
        COLL_*=*) "$build/coll-info" settings | grep -q -w "${word%%=*}" || fail "$1: no setting ${word%%=*}" ;;
        scripts/* | build/* | */install-component)
            [ -e "$source_dir/$word" ] || [ -e "$build/$name" ] || [ -e "$source_dir/scripts/$name" ] ||
                fail "$1: there is no $word"
            ;;
        esac
        case " $(echo $known) " in
        *" $name "*) program=$name ;;
        *" scripts/$name "*) program=scripts/$name ;;
        esac
        case $word in
        srun | sbatch) program=elsewhere ;;
        -- | '&&' | '|') program= ;;
        --[a-z]*)
            [ "$program" = elsewhere ] || grep -q -e "${word%%=*}\([^a-z-]\|\$\)" "help${program:+.${program//\//.}}" ||
                fail "$1: ${program:-nobody} knows no ${word%%=*}"
            ;;
        esac
    done
}

while read -r number where why; do
    if [ -n "$why" ]; then
        look "$where" "$(sed 's/ # .*//; s/\\$//' "blocks/$number.sh")"
    else
        run "$number" "$where"
    fi
done <list
while read -r where text; do
    look "$where" "$text"
done <blocks/spans

# The algorithm that docs/adding-an-algorithm.md shows compiles.
awk '/^ *```c$/ { code = 1; next } /^ *```$/ { exit } code' "$source_dir/docs/adding-an-algorithm.md" >relay.c
grep -q coll_bcast_relay relay.c || fail "docs/adding-an-algorithm.md shows no algorithm"
sed -n 's/^CC = //p' "$build/Makefile" | { read -r compiler && $compiler -std=c11 -Wall -Werror -fsyntax-only \
    -I"$build/build-aux" -I"$source_dir" -I"$source_dir/include" relay.c; } >out 2>err || fail "relay.c"
echo "all as it should be"
