# SPDX-License-Identifier: BSD-3-Clause
# CP2K: the electrons of a molecule of water, by Quickstep.
packages=cp2k

input() {
    cat >water.inp <<'END_OF_INPUT'
&GLOBAL
  PROJECT water
  RUN_TYPE ENERGY
  PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
  METHOD QS
  &DFT
    BASIS_SET_FILE_NAME GTH_BASIS_SETS
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 100
    &END MGRID
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
    &SCF
      EPS_SCF 1.0E-5
      MAX_SCF 30
    &END SCF
  &END DFT
  &SUBSYS
    &CELL
      ABC 5.0 5.0 5.0
    &END CELL
    &COORD
      O  0.000  0.000  0.000
      H  0.757  0.586  0.000
      H -0.757  0.586  0.000
    &END COORD
    &KIND O
      BASIS_SET DZVP-GTH
      POTENTIAL GTH-PADE-q6
    &END KIND
    &KIND H
      BASIS_SET DZVP-GTH
      POTENTIAL GTH-PADE-q1
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
END_OF_INPUT
}
program() {
    rm -f water-*
    OMP_NUM_THREADS=1 "$@" cp2k.psmp -i water.inp
}
verdict() {
    sed -n 's/^ *ENERGY| .*: *\(-[0-9]*[.][0-9]\{6\}\).*/energy \1/p' output
    grep -o 'SCF run converged' output
}
