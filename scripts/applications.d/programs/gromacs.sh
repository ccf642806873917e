# SPDX-License-Identifier: BSD-3-Clause
# GROMACS: molecular dynamics of water, with separate ranks for the long-range forces.
packages=gromacs

input() {
    cat >topol.top <<'END_OF_INPUT'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
END_OF_INPUT
    cat >water.mdp <<'END_OF_INPUT'
integrator = md
nsteps = 150
nstenergy = 10
nstcalcenergy = 10
nstlist = 10
coulombtype = PME
fourierspacing = 0.12
rcoulomb = 0.9
rvdw = 0.9
tcoupl = v-rescale
tc-grps = System
tau-t = 0.1
ref-t = 300
gen-vel = yes
gen-temp = 300
gen-seed = 1
ld-seed = 1
constraints = none
END_OF_INPUT
    gmx -quiet solvate -cs spc216 -box 4 4 4 -o water.gro -p topol.top >prepared 2>&1
    gmx -quiet grompp -f water.mdp -c water.gro -p topol.top -o water.tpr -maxwarn 5 >>prepared 2>&1
}
program() {
    rm -f '#'* ener.edr md.log
    "$@" gmx_mpi -quiet mdrun -s water.tpr -ntomp 1 -dlb no -notunepme -reprod -pin off
}
# Prints the energies of the first step. Later energies depend on the order of sums.
verdict() {
    awk '/Energies/ { getline; getline; for (i = 1; i <= NF; i++) printf "%.4e ", $i; print ""; exit }' md.log
    grep -o 'Finished mdrun' md.log
}
