#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that run many ranks on few cores, perhaps as root. Sets the options with which Open MPI
# allows that.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0
# In Open MPI 5 PRRTE starts the ranks, and warns about each IPv6 address without a route.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_reachable=weighted
# MPICH yields its core without a setting, but sleeps only with this one. MPICH 4.0 does neither; in make
# check it has tests/support/yielding.c for that.
export MPIR_CVAR_ENABLE_HEAVY_YIELD=1
export OMP_WAIT_POLICY=passive
# With treematch, MPI_Dist_graph_create of Open MPI 4.1 and 5.0 sometimes hangs, also without libcoll.
export OMPI_MCA_topo=basic
# After a rank has failed, do not wait a second for the others.
export OMPI_MCA_odls_base_sigkill_timeout=0
# shellcheck disable=SC2034 # for whoever sources it
mpirun=${MPIRUN:-mpirun}
# A time limit for commands that may hang. It is long because machines may be busy.
# shellcheck disable=SC2034
limited="timeout -k 10 ${COLL_TEST_TIMEOUT:-600}"

# free_cores COMMAND...: runs COMMAND as if every rank had a core of its own, so that no rank yields; and
# with MPI_THREAD_MULTIPLE from MPI_Init, so that errors between threads show.
free_cores() (
    unset OMPI_MCA_mpi_yield_when_idle
    export HWLOC_SYNTHETIC="package:1 core:8 pu:1" OMPI_MPI_THREAD_LEVEL=3
    export MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE
    "$@"
)

# aborting COMMAND...: runs COMMAND, a function that starts ranks under $limited, for less time, since the ranks
# abort: mpirun of Open MPI 4.1.4 sometimes waits for ever in PMIx_server_finalize after all of them have ended.
aborting() (
    # shellcheck disable=SC2034
    limited="timeout -k 10 60"
    "$@"
)
