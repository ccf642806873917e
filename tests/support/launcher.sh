#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts to which it matters whose launcher mpirun is. Sets $launcher to openmpi, mpich or other, and
# $series to 4 or 5 with Open MPI of that series, else to nothing.
# shellcheck disable=SC2034 # for whoever sources it
launcher=other series=
case $("${MPIRUN:-mpirun}" --version 2>/dev/null) in
*'Open MPI) 4.'*) launcher=openmpi series=4 ;;
*'Open MPI) 5.'*) launcher=openmpi series=5 ;;
*HYDRA*) launcher=mpich ;;
esac
