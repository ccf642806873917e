#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the installed files as users use them. Needs no build.
# Usage: tests/cli/installed.sh PREFIX [FORBIDDEN_PATH...]
# MPICC, MPIFORT and MPIRUN name the commands of the MPI library for which libcoll was built. No installed
# file may contain a FORBIDDEN_PATH, for example the path of the build tree.
set -u
prefix=$(cd "${1:?usage: tests/cli/installed.sh PREFIX [FORBIDDEN_PATH...]}" && pwd) || exit 2
shift
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
. "$source_dir/tests/support/programs.sh"
limited="timeout -k 10 ${COLL_TEST_TIMEOUT:-60}"
mpicc=${MPICC:-mpicc} mpifort=${MPIFORT:-mpifort}

libdir=$(dirname "$(find "$prefix"/lib* -name libcoll.so.0 2>/dev/null | head -n 1)")
[ -e "$libdir/libcoll.so.0" ] || fail "there is no libcoll.so.0 under $prefix"
unset LD_LIBRARY_PATH LD_PRELOAD COLL_LIBRARY PYTHONPATH
export PATH=$prefix/bin:$PATH PKG_CONFIG_PATH=$libdir/pkgconfig CMAKE_PREFIX_PATH=$prefix
export HOME=$work/home COLL_PROFILE=built-in PYTHONDONTWRITEBYTECODE=1
mkdir home
# The loader finds only libraries in its own folders by itself.
rpath=-Wl,-rpath,$libdir
if ldconfig=$(PATH=$PATH:/sbin:/usr/sbin command -v ldconfig) &&
    [ "$("$ldconfig" -p | sed -n 's/.*libcoll\.so\.0 .*=> //p' | head -n 1)" -ef "$libdir/libcoll.so.0" ]; then
    rpath=
else
    export COLL_LIBRARY=$libdir/libcoll.so.0
fi

skipped() {
    echo "skipped: $1, for want of $2"
}

# run COMMAND...: runs COMMAND with its output in out and err.
run() {
    $limited "$@" >out 2>err </dev/null
}

ranks() {
    run "$mpirun" -n "$@"
}

# greets COUNT WHAT: checks that the first program ran on COUNT ranks, whose lines may be mixed.
greets() {
    for ((rank = 0; rank < $1; rank++)); do
        grep -q "rank $rank: hello from rank 0" out || fail "$2: rank $rank says nothing"
    done
    [ "$(grep -o hello out | wc -l)" = "$1" ] || fail "$2: not $1 ranks"
}

# --- Files ---
find "$prefix" -type f \( -name 'coll[-_.]*' -o -name 'libcoll*' -o -name 'mca_coll_libcoll.*' \
    -o -path '*/coll/*' -o -path '*/libcoll/*' \) ! -path '*/share/doc/*' >files
[ "$(wc -l <files)" -ge 20 ] || fail "only $(wc -l <files) files under $prefix"
# texts FILE: prints the texts in FILE. Debug information of a binary may name the sources.
texts() {
    case $1 in
    *.mod) gzip -dc "$1" ;;
    *)
        if head -c 4 "$1" | grep -q ELF; then
            readelf -W -d -p .dynstr -p .rodata -p .data "$1" 2>/dev/null
        else
            cat "$1"
        fi
        ;;
    esac
}
while read -r file; do
    texts "$file" | sed "s|$prefix||g" >text
    [ -s text ] || fail "$file isn't readable"
    ! grep -n -E '@[A-Za-z_]{2,}@' text >out || fail "$file has a placeholder"
    for forbidden; do
        ! grep -n -F -e "$forbidden" text >out || fail "$file names $forbidden"
    done
done <files

# --- Programs ---
programs="coll-bench coll-hlot coll-info coll-kmeans coll-popcg coll-profile coll-words"
[ ! -e "$libdir/libcoll_pmpi.so" ] || programs="$programs coll-run"
[ ! -e "$libdir/libcoll_watch.so" ] || programs="$programs coll-watch"
version=$(pkg-config --modversion coll) || fail "pkg-config doesn't know coll"
for program in $programs; do
    [ "$(command -v "$program")" = "$prefix/bin/$program" ] || fail "$program isn't in $prefix/bin"
    run "$program" --version || fail "$program --version"
    grep -q -F -e "$version" out || fail "$program --version: not $version"
    run "$program" --help && [ -s out ] || fail "$program --help"
done
run coll-info && grep -q -F -e "$version" out || fail "coll-info"
ranks 2 coll-bench bcast --sizes 1K --reps 2 --algorithms chain && [ -s out ] || fail "coll-bench bcast"
run coll-hlot show "$source_dir/tests/hlot/figure1.txt" && [ -s out ] || fail "coll-hlot show"
ranks 2 coll-popcg --grid 32x40 --tolerance 1e-3 --solver pcg && [ -s out ] || fail "coll-popcg"
for i in {0..19}; do
    echo "a$i 1 $i $((i % 3)) $((i % 5))"
    echo "b$i 1 $i $((200 + i % 3)) $((200 + i % 5))"
done >points
ranks 2 coll-kmeans --k 2 points --centroids centroids.npy --assign assign.npy &&
    [ -s centroids.npy ] && [ -s assign.npy ] || fail "coll-kmeans"
# 50 images of 28 x 28 pixels with some edges.
{
    printf '\0\0\010\003\0\0\0\062\0\0\0\034\0\0\0\034'
    awk 'BEGIN { for (i = 0; i < 39200; i++) printf "%c", 33 + i * i % 89 }'
} >images
run coll-words features --images images --output features.npy && [ -s features.npy ] || fail "coll-words"

# --- Manual pages ---
for page in coll.3 coll-component.7 $(printf '%s.1 ' $programs); do
    [ "$page" != coll-component.7 ] || grep -q mca_coll_libcoll files || continue
    file=$(find "$prefix" -path "*/man/man${page##*.}/$page*" 2>/dev/null | head -n 1)
    [ -n "$file" ] || fail "there is no manual page $page"
    command -v groff >/dev/null || continue
    case $file in *.gz) gzip -dc "$file" ;; *) cat "$file" ;; esac |
        groff -man -Tutf8 -ww -z >out 2>&1 || fail "groff of $page"
    [ ! -s out ] || fail "groff has something to say of $page"
done
command -v groff >/dev/null || skipped "rendering the manual pages" groff

# --- Programs of users ---
# shellcheck disable=SC2046,SC2086 # words
"$mpicc" "$source_dir/examples/first.c" $(pkg-config --cflags --libs coll) $rpath -o first >out 2>err ||
    fail "a program in C isn't built"
ranks 3 ./first || fail "a program in C"
greets 3 "a program in C"
if command -v cmake >/dev/null; then
    run cmake -S "$source_dir/tests/cli/cmake" -B built && run cmake --build built || fail "CMake"
    ranks 2 built/first || fail "a program by CMake"
    greets 2 "a program by CMake"
else
    skipped CMake cmake
fi
if ! pkg-config --exists coll_f08; then
    skipped Fortran coll_f08.pc
elif ! command -v "$mpifort" >/dev/null; then
    skipped Fortran "$mpifort"
else
    # shellcheck disable=SC2046,SC2086
    "$mpifort" "$source_dir/examples/first_f08.f90" $(pkg-config --cflags --libs coll_f08) $rpath -o first_f08 \
        >out 2>err || fail "a program in Fortran isn't built"
    ranks 2 ./first_f08 || fail "a program in Fortran"
    greets 2 "a program in Fortran"
fi

# clusters PYTHON: K-means in Python finds two clusters.
clusters() {
    "$1" -c 'import coll, numpy
labels = coll.KMeans(2, random_state=1).fit_predict(numpy.repeat([[0.5], [9]], 5, axis=0))
assert len(set(labels[:5])) == len(set(labels[5:])) == 1 and labels[0] != labels[5]' >out 2>err </dev/null ||
        fail "KMeans in Python"
}

# wheel_works: tests WHEEL in ./venv. Only its own libraries may be loaded.
wheel_works() {
    PIP_NO_INDEX=1 venv/bin/pip install --no-deps --force-reinstall "$WHEEL" >out 2>err || fail "pip install $WHEEL"
    cat >wheel.py <<'PYTHON'
import coll, numpy, sys
from mpi4py import MPI
one, all = numpy.ones(1000), numpy.empty(1000)
coll.Allreduce(one, all)
assert (all == MPI.COMM_WORLD.size).all()
labels = coll.KMeans(2, random_state=1).fit_predict(numpy.repeat([[0.5], [9]], 5, axis=0))
assert len(set(labels[:5])) == len(set(labels[5:])) == 1 and labels[0] != labels[5]
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "/libcoll" in line}
assert len(loaded) == 2 and min(file.startswith(sys.prefix) for file in loaded), loaded
PYTHON
    ranks 4 env -u COLL_LIBRARY venv/bin/python3 wheel.py || fail "the wheel with 4 ranks"
    [ -e "$libdir/libcoll_pmpi.so" ] || return 0
    COLL_TRACE=1 run venv/bin/coll-run -n 2 --wrap all --bcast chain -- "$python" -c 'from mpi4py import MPI
MPI.COMM_WORLD.Bcast(bytearray(8))' && grep -q '^coll: bcast .*choice=chain' err || fail "coll-run of the wheel"
}

# The Python package of the system, or one installed as README says.
python=
for try in ${PYTHON:-} python3 /usr/bin/python3; do
    ! "$try" -c 'import cffi, mpi4py, numpy' 2>/dev/null || python=${python:-$try}
done
installed_python=$("$python" -c 'import importlib.util as u; print(u.find_spec("coll").origin)' 2>/dev/null)
if [ -z "$python" ]; then
    skipped Python "python3-mpi4py, python3-numpy and python3-cffi"
elif "$python" -c 'import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.get_vendor()[0])' \
    2>err | grep -q 'Open MPI' &&
    ! "$mpicc" -show 2>/dev/null | grep -q openmpi; then
    skipped Python "an mpi4py for this MPI library"
elif [ -n "$installed_python" ]; then
    ranks 2 "$python" "$source_dir/examples/first.py" || fail "a program in Python"
    greets 2 "a program in Python"
    clusters "$python"
elif ! "$python" -c 'import ensurepip, setuptools, wheel' 2>/dev/null; then
    skipped Python "python3-setuptools, python3-wheel and python3-venv"
else
    cp -r "$source_dir/python" .
    "$python" -m venv --system-site-packages venv >out 2>err || fail "venv"
    PIP_NO_INDEX=1 venv/bin/pip install --no-build-isolation ./python >out 2>err || fail "pip"
    ranks 2 venv/bin/python3 "$source_dir/examples/first.py" || fail "a program in Python"
    greets 2 "a program in Python"
    clusters venv/bin/python3
    [ -z "${WHEEL-}" ] || wheel_works
fi

# --- Programs as they are ---
cat >plain.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int number = 0, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    number = rank == 0 ? 42 : 0;
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (argc > 1 && rank == 1) /* late */
        sleep(4);
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("sum %d\n", number);
    return MPI_Finalize();
}
C
"$mpicc" plain.c -o plain >out 2>err || fail "plain.c"
# sums COUNT OPTIONS...: runs COUNT ranks of ./plain with coll-run and OPTIONS.
sums() {
    local count=$1
    shift
    run coll-run "$@" -- ./plain ${late:+"$late"} || fail "coll-run $*"
    [ "$(grep -o "sum $((42 * count))" out | wc -l)" = "$count" ] || fail "coll-run $*: something else"
}
if [ -e "$libdir/libcoll_pmpi.so" ]; then
    sums 3 -n 3
    sums 2 -n 3 --dcp 1
    sums 2 -n 2 --wrap all --report
    grep -q '^libcoll .* on 2 ranks' err || fail "coll-run --report: no report"
    COLL_TRACE=1 sums 3 -n 3 --wrap all --bcast chain
    grep -q '^coll: bcast .*choice=chain' err || fail "coll-run --wrap all: libcoll isn't used"
else
    skipped coll-run libcoll_pmpi.so
fi
if [ -e "$libdir/libcoll_watch.so" ]; then
    late=late sums 3 -n 3 --watch 1
    grep -q '^coll: watch: .*MPI_Allreduce' err || fail "coll-run --watch: no report"
else
    skipped "coll-run --watch" libcoll_watch.so
fi

component=$(grep '/mca_coll_libcoll\.so$' files | head -n 1)
chosen() {
    grep -q '^coll: bcast .*choice=chain' err
}
options="--mca coll_libcoll_bcast chain --mca coll_libcoll_trace 1 --mca coll_libcoll_one_host 1"
if [ -z "$component" ]; then
    skipped "the component" mca_coll_libcoll.so
else
    export OMPI_MCA_coll_libcoll_one_host=1
    COLL_TRACE=1 sums 2 -n 2 --component --bcast chain
    chosen || fail "coll-run --component: libcoll isn't used"
fi
install=$libdir/libcoll/install-component
if [ -n "$component" ] && [ -e "$install" ]; then
    run "$install" || fail "install-component"
    # shellcheck disable=SC2086 # words
    ranks 2 $options ./plain && chosen || fail "install-component: libcoll isn't used"
    run "$install" --remove || fail "install-component --remove"
    # shellcheck disable=SC2086
    ranks 2 $options ./plain && ! chosen || fail "install-component --remove: libcoll is used"
elif [ -n "$component" ]; then
    # The component is in a folder of Open MPI, which Debian 13 must be told (docs/component.md).
    export OMPI_MCA_opal_mca_base_component_path=SYSTEM_DEFAULT:USER_DEFAULT
    # shellcheck disable=SC2086
    ranks 2 $options ./plain && chosen || fail "the component isn't used"
fi
echo "all as it should be"
