# PETSc, by petsc4py: the same equation by solvers that compute while they reduce, with MPI_Iallreduce.
# shellcheck source=scripts/applications.d/programs/petsc.sh
. "$programs/petsc.sh"
# shellcheck disable=SC2034  # for that file's functions
solvers='("pipecg", "jacobi"), ("groppcg", "jacobi"), ("pipecr", "jacobi"), ("pipebcgs", "none")'
