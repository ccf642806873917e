# SPDX-License-Identifier: BSD-3-Clause
# PETSc, with petsc4py: the same equation with solvers that overlap MPI_Iallreduce with computation.
# shellcheck source=scripts/applications.d/programs/petsc.sh
. "$programs/petsc.sh"
# shellcheck disable=SC2034  # for that file's functions
solvers='("pipecg", "jacobi"), ("groppcg", "jacobi"), ("pipecr", "jacobi"), ("pipebcgs", "none")'
