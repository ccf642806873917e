# SPDX-License-Identifier: BSD-3-Clause
# LAMMPS: molecular dynamics, a Lennard-Jones liquid.
packages=lammps

input() {
    edge=6 steps=50
    [ "$where" = host ] || edge=10 steps=120
    cat >lammps.in <<END_OF_INPUT
units           lj
atom_style      atomic
lattice         fcc 0.8442
region          box block 0 $edge 0 $edge 0 $edge
create_box      1 box
create_atoms    1 box
mass            1 1.0
velocity        all create 1.44 87287 loop geom
pair_style      lj/cut 2.5
pair_coeff      1 1 1.0 1.0 2.5
fix             1 all nve
thermo          5
run             $steps
END_OF_INPUT
}
program() {
    "$@" lmp -in lammps.in -log none
}
verdict() {
    sed -n '/^ *Step/,/^Loop/p' output | grep -v '^Loop'
}
