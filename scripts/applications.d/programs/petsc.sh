# SPDX-License-Identifier: BSD-3-Clause
# PETSc, with petsc4py: Poisson's equation on a square, with four solvers.
packages=python3-petsc4py
solvers='("cg", "jacobi"), ("pipecg", "jacobi"), ("gmres", "bjacobi"), ("bcgs", "none")'

# The program prints few digits, because sums may differ by rounding.
input() {
    edge=40
    [ "$where" = host ] || edge=128
    cat >petsc.py <<END_OF_INPUT
import petsc4py

petsc4py.init()
from petsc4py import PETSc

n = $edge
matrix = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
first, last = matrix.getOwnershipRange()
for row in range(first, last):
    i, j = divmod(row, n)
    matrix[row, row] = 4
    for k, inside in ((row - n, i > 0), (row + n, i < n - 1), (row - 1, j > 0), (row + 1, j < n - 1)):
        if inside:
            matrix[row, k] = -1
matrix.assemble()
x, b = matrix.createVecs()
b.set(1)
for solver, by in ($solvers):
    ksp = PETSc.KSP().create()
    ksp.setOperators(matrix)
    ksp.setType(solver)
    ksp.getPC().setType(by)
    ksp.setTolerances(rtol=1e-10)
    x.set(0)
    ksp.solve(b, x)
    reason = ksp.getConvergedReason()
    PETSc.Sys.Print(solver, by, reason, "%.5e %.5e" % (x.norm(), x.max()[1]))
PETSc.Sys.Print(PETSc.COMM_WORLD.size)
END_OF_INPUT
}
program() {
    export PETSC_DIR="${PETSC_DIR:-$(find /usr/lib/petscdir -maxdepth 2 -name '*-real' | sort | tail -n 1)}"
    "$@" /usr/bin/python3 petsc.py
}
verdict() {
    cat output
}
