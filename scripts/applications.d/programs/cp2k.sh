# CP2K: the electrons of a cube of silicon, by Quickstep.
packages=cp2k

input() {
    cat >si.inp <<'END_OF_INPUT'
&GLOBAL
  PROJECT si
  RUN_TYPE ENERGY
  PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
  METHOD QS
  &DFT
    BASIS_SET_FILE_NAME GTH_BASIS_SETS
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 60
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
      ABC 5.43 5.43 5.43
    &END CELL
    &COORD
      SCALED
      Si 0.00 0.00 0.00
      Si 0.50 0.50 0.00
      Si 0.50 0.00 0.50
      Si 0.00 0.50 0.50
      Si 0.25 0.25 0.25
      Si 0.75 0.75 0.25
      Si 0.75 0.25 0.75
      Si 0.25 0.75 0.75
    &END COORD
    &KIND Si
      BASIS_SET SZV-GTH
      POTENTIAL GTH-PADE-q4
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
END_OF_INPUT
}
program() {
    rm -f si-*
    OMP_NUM_THREADS=1 "$@" cp2k.psmp -i si.inp
}
verdict() {
    sed -n 's/^ *ENERGY| .*: *\(-[0-9]*[.][0-9]\{6\}\).*/energy \1/p' output
    grep -o 'SCF run converged' output
}
