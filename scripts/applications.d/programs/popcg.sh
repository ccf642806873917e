# SPDX-License-Identifier: BSD-3-Clause
# coll-popcg, a program of libcoll: the surface of the world's ocean, by conjugate gradients with one reduction in
# each iteration. Here it calls only MPI.
packages='' solver=chrongear reductions=blocking

input() {
    true
}
# shellcheck disable=SC2154  # the caller's
program() {
    "$@" "$build/coll-popcg" --solver $solver --reductions $reductions --tolerance 0 --iterations 300
}
verdict() {
    awk '/^surface/ { printf "surface %.6g to %.6g\n", $3, $5 }' output
}
