# SPDX-License-Identifier: BSD-3-Clause
# ABINIT: the electrons of silicon's unit cell.
packages=abinit

input() {
    cp "$programs/silicon.psp" si.psp
    cat >si.abi <<'END_OF_INPUT'
pseudos "si.psp"
ecut 10
acell 3*10.2
rprim 0.0 0.5 0.5  0.5 0.0 0.5  0.5 0.5 0.0
ntypat 1
znucl 14
natom 2
typat 1 1
xred 0.0 0.0 0.0  0.25 0.25 0.25
ngkpt 4 4 4
nshiftk 4
shiftk 0.5 0.5 0.5  0.5 0.0 0.0  0.0 0.5 0.0  0.0 0.0 0.5
nstep 12
toldfe 1e-8
prtwf 0
prtden 0
prteig 0
END_OF_INPUT
}
program() {
    rm -f si.abo* sio_*
    "$@" abinit si.abi
}
verdict() {
    sed -n 's/^ *etotal *\(-[0-9.]\{9\}\).*/energy \1/p; s/^ *At SCF step.*converged.*/converged/p' si.abo | sort -u
}
