#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the Python package together with mpi4py, and its errors.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../support/programs.sh"
. "$source_dir/tests/support/find_python.sh"
export COLL_PROFILE=built-in PYTHONPATH="$source_dir/python" PYTHONDONTWRITEBYTECODE=1
export COLL_LIBRARY="$build/.libs/libcoll.so.0"

for ranks in 1 3; do
    for program in python.py python_kmeans.py; do
        $limited "$mpirun" -n "$ranks" "$python" "$source_dir/tests/cli/$program" >out 2>err </dev/null ||
            fail "tests/cli/$program with $ranks ranks"
    done
done

# KMeans without mpirun, as an estimator of scikit-learn.
if "$python" -c 'import sklearn' 2>/dev/null; then
    "$python" -W ignore -c 'import coll, sklearn.utils.estimator_checks as checks
checks.check_estimator(coll.KMeans())' >out 2>err </dev/null || fail "KMeans is no estimator of scikit-learn"
else
    echo "skipped: KMeans as an estimator, for want of python3-sklearn"
fi

# refused LIBRARY TEXT: expects one line with TEXT, which says that LIBRARY cannot be used.
refused() {
    COLL_LIBRARY=$1 "$python" -c 'import mpi4py; mpi4py.rc.initialize = False; import coll' >out 2>err </dev/null && fail "COLL_LIBRARY=$1 is taken"
    grep -c '^ImportError: coll: ' err | grep -qx 1 || fail "COLL_LIBRARY=$1: no line says what is wrong"
    tail -n 1 err | grep -q -F -e "$2" || fail "COLL_LIBRARY=$1: nothing of $2"
}
refused "$work/none" "$work/none: cannot open"
refused libm.so.6 "libm.so.6 is not libcoll; COLL_LIBRARY names the file libcoll.so.0"
refused "$build/.libs/libforeign.so" "libforeign.so was built with SomeMPI 7.1, and mpi4py with "
# A wheel has the library in the package.
cp -r "$source_dir/python/coll" . && mkdir coll/lib && echo none >coll/lib/libcoll.so.0
PYTHONPATH=$work refused '' "the wheel is for another MPI library or a newer system; build one here by make wheel"
echo "all as it should be"
