#!/bin/sh
# Sourced by whatever runs many ranks that share few cores, as root perhaps: Open MPI's ways to
# allow that.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0
export OMP_WAIT_POLICY=passive
# shellcheck disable=SC2034 # for whoever sources it
mpirun=${MPIRUN:-mpirun}
