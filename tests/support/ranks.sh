#!/bin/sh
# Sourced by whatever runs many ranks that share few cores, as root perhaps: Open MPI's ways to
# allow that.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0
# Open MPI 5 leaves the starting of ranks to PRRTE, and warns of each IPv6 address without a route.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_reachable=weighted
# MPICH offers its core to others without being asked, but lets none sleep unless it is told to. In make check
# that of 4.0, which does neither, has tests/support/yielding.c for it.
export MPIR_CVAR_ENABLE_HEAVY_YIELD=1
export OMP_WAIT_POLICY=passive
# A rank that has failed is no reason to wait a second for the others.
export OMPI_MCA_odls_base_sigkill_timeout=0
# shellcheck disable=SC2034 # for whoever sources it
mpirun=${MPIRUN:-mpirun}
# Before what could hang; long, since machines may be busy.
# shellcheck disable=SC2034
limited="timeout -k 10 ${COLL_TEST_TIMEOUT:-600}"

# free_cores COMMAND...: runs it as if every rank had a core of its own, so that nobody yields, and
# with MPI_THREAD_MULTIPLE from MPI_Init too: where threads show what they do to one another.
free_cores() (
    unset OMPI_MCA_mpi_yield_when_idle
    export HWLOC_SYNTHETIC="package:1 core:8 pu:1" OMPI_MPI_THREAD_LEVEL=3
    export MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE
    "$@"
)
