# SPDX-License-Identifier: BSD-3-Clause
# MPB: the bands of a photonic crystal, spheres on a diamond lattice.
packages=mpb-mpi

input() {
    cat >bands.ctl <<'END_OF_INPUT'
(set! geometry-lattice (make lattice
  (basis-size (sqrt 0.5) (sqrt 0.5) (sqrt 0.5))
  (basis1 0 1 1) (basis2 1 0 1) (basis3 1 1 0)))
(set! k-points (list (vector3 0 0.5 0.5) (vector3 0 0.625 0.375)))
(set! geometry (list
  (make sphere (center 0.125 0.125 0.125) (radius 0.25) (material (make dielectric (epsilon 11.56))))
  (make sphere (center -0.125 -0.125 -0.125) (radius 0.25) (material (make dielectric (epsilon 11.56))))))
(set! resolution 16)
(set! mesh-size 3)
(set! num-bands 4)
(set! deterministic? true)
(run)
END_OF_INPUT
}
program() {
    "$@" mpb-mpi bands.ctl
}
verdict() {
    sed -n 's/^freqs:, \([0-9].*\)/\1/p' output | awk -F , '{ printf "%s", $1; for (i = 6; i <= NF; i++) printf " %.3f", $i; print "" }'
}
