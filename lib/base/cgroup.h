/* What Linux control groups, versions 1 and 2, say about processor time. No MPI. */
#ifndef COLL_LIB_BASE_CGROUP_H
#define COLL_LIB_BASE_CGROUP_H

/*
 * How many processors' worth of time the groups in MEMBERSHIP (/proc/self/cgroup) grant their
 * processes, 2.5 for instance; 0 where nothing limits it or nothing can be read. MOUNT is where the
 * groups are, /sys/fs/cgroup.
 */
double coll_cgroup_processors(const char *membership, const char *mount);

#endif
