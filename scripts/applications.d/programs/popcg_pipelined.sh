# SPDX-License-Identifier: BSD-3-Clause
# coll-popcg, by conjugate gradients that overlap MPI_Iallreduce with computation.
# shellcheck source=scripts/applications.d/programs/popcg.sh
. "$programs/popcg.sh"
# shellcheck disable=SC2034  # for that file's functions
solver=pipecg reductions=nbc
