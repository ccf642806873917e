# SPDX-License-Identifier: BSD-3-Clause
# Quantum ESPRESSO: the electrons of silicon's unit cell, by pw.x.
packages=quantum-espresso

input() {
    cp "$programs/silicon.psp" Si.gth
    cat >pw.in <<'END_OF_INPUT'
&control
    calculation = 'scf', prefix = 'si', pseudo_dir = '.', outdir = './scratch'
/
&system
    ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 12
/
&electrons
    conv_thr = 1e-3
/
ATOMIC_SPECIES
 Si 28.086 Si.gth
ATOMIC_POSITIONS crystal
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS automatic
 1 1 1 1 1 1
END_OF_INPUT
}
program() {
    rm -rf scratch
    "$@" pw.x -in pw.in
}
verdict() {
    sed -n 's/^! *total energy *= *\(.*[.][0-9]\{6\}\).*/energy \1/p; /convergence has been achieved/s/in .*//p' output
}
