/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/descriptors.h"

#include <dirent.h>
#include <stdlib.h>

void coll_descriptors_visit(bool (*visit)(void *context, int descriptor), void *context) {
    DIR *list = opendir("/proc/self/fd");
    bool more = list;
    for (const struct dirent *entry; more && (entry = readdir(list));)
        if (*entry->d_name != '.')
            more = visit(context, atoi(entry->d_name));
    if (list)
        closedir(list);
}
