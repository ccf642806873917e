# coll-popcg by conjugate gradients that compute while they reduce, with MPI_Iallreduce.
# shellcheck source=scripts/applications.d/programs/popcg.sh
. "$programs/popcg.sh"
# shellcheck disable=SC2034  # for that file's functions
solver=pipecg reductions=nbc
