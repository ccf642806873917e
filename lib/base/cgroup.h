/* SPDX-License-Identifier: BSD-3-Clause */
/* Processor time limits of Linux control groups, versions 1 and 2. No MPI. */
#ifndef COLL_LIB_BASE_CGROUP_H
#define COLL_LIB_BASE_CGROUP_H

/*
 * Returns how many processors' worth of time (2.5, for instance) the groups listed in the file
 * MEMBERSHIP (/proc/self/cgroup) grant their processes; 0 if there is no limit or the limit cannot
 * be read. MOUNT is the directory of the groups, /sys/fs/cgroup.
 */
double coll_cgroup_processors(const char *membership, const char *mount);

#endif
