/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/processor_limit.h"

#include "lib/base/cgroup.h"

double app_processor_limit(void) {
    return coll_cgroup_processors("/proc/self/cgroup", "/sys/fs/cgroup");
}
