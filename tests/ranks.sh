#!/bin/sh
# Sourced by whatever runs many ranks that share few cores, as root perhaps: Open MPI's ways to
# allow that.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0
# Open MPI 5 leaves the starting of ranks to PRRTE, and warns of each IPv6 address without a route.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_reachable=weighted
export OMP_WAIT_POLICY=passive
# shellcheck disable=SC2034 # for whoever sources it
mpirun=${MPIRUN:-mpirun}
