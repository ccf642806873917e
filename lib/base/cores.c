/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/cores.h"

#include "lib/base/cgroup.h"

#include <hwloc.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

/* Loads only cores and NUMA domains, since the rest (mostly devices) takes time. */
static bool load_machine(hwloc_topology_t *machine) {
    if (hwloc_topology_init(machine) != 0)
        return false;
    if (hwloc_topology_set_all_types_filter(*machine, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
        hwloc_topology_set_type_filter(*machine, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
        hwloc_topology_load(*machine) == 0)
        return true;
    hwloc_topology_destroy(*machine);
    return false;
}

static void set_bit(coll_cores *cores, int bit) {
    if (bit >= 0 && bit < COLL_CORES_MOST)
        cores->bound[bit / 64] |= UINT64_C(1) << bit % 64;
}

/*
 * Returns the hwloc type that counts as a core: hardware threads if the machine does not report its
 * cores.
 */
static hwloc_obj_type_t core_type(hwloc_topology_t machine) {
    return hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

/* Fills CORES. A core's number is the operating system's number of its first hardware thread. */
static void read_binding(hwloc_topology_t machine, hwloc_const_bitmap_t binding,
                         coll_cores *cores) {
    hwloc_obj_type_t type = core_type(machine);
    cores->node = hwloc_get_nbobjs_by_type(machine, type);
    for (hwloc_obj_t core = NULL; (core = hwloc_get_next_obj_by_type(machine, type, core));)
        if (hwloc_bitmap_intersects(core->cpuset, binding))
            set_bit(cores, hwloc_bitmap_first(core->complete_cpuset));
    for (hwloc_obj_t numa = NULL;
         (numa = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, numa));)
        if (hwloc_bitmap_isincluded(binding, numa->cpuset)) {
            cores->numa = (int)numa->os_index;
            return;
        }
}

static bool query_hwloc(coll_cores *cores) {
    hwloc_topology_t machine;
    if (!load_machine(&machine))
        return false;
    hwloc_bitmap_t binding = hwloc_bitmap_alloc();
    bool good = binding && hwloc_get_cpubind(machine, binding, HWLOC_CPUBIND_PROCESS) == 0;
    if (good)
        read_binding(machine, binding, cores);
    hwloc_bitmap_free(binding);
    hwloc_topology_destroy(machine);
    return good;
}

static coll_cores this_process;

static void find_cores(void) {
    coll_cores *cores = &this_process;
    if (!query_hwloc(cores)) {
        cores->node = (int)sysconf(_SC_NPROCESSORS_ONLN);
        for (int core = 0; core < cores->node; core++)
            set_bit(cores, core);
    }
    if (cores->node < 1)
        cores->node = 1;
    double processors = coll_cgroup_processors("/proc/self/cgroup", "/sys/fs/cgroup");
    cores->quota = processors > 0 && processors < INT_MAX ? (int)processors : INT_MAX;
    if (cores->quota < 1)
        cores->quota = 1;
}

const coll_cores *coll_cores_get(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_cores);
    return &this_process;
}

int coll_cores_count(const uint64_t bound[COLL_CORES_WORDS]) {
    int count = 0;
    for (int i = 0; i < COLL_CORES_WORDS; i++)
        count += __builtin_popcountll(bound[i]);
    return count;
}
