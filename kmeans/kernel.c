#include "kmeans/kernel.h"
#include "kmeans/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const km_kernel *const *km_kernel_list(void) {
    static const km_kernel *const kernels[] = {
#if defined(__x86_64__)
        &km_kernel_vnni,
        &km_kernel_avx2,
#endif
        &km_kernel_scalar,
        NULL,
    };
    return kernels;
}

const km_kernel *km_kernel_best(char *problem, size_t size) {
    const char *wanted = getenv("COLL_KMEANS_KERNEL");
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++)
        if ((!wanted || strcmp((*kernel)->name, wanted) == 0) && (*kernel)->supported())
            return *kernel;

    int length =
        snprintf(problem, size,
                 "COLL_KMEANS_KERNEL=%s: no such kernel here; allowed:", wanted ? wanted : "");
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++)
        if ((*kernel)->supported() && length >= 0 && (size_t)length < size)
            length += snprintf(problem + length, size - (size_t)length, " %s", (*kernel)->name);
    return NULL;
}
