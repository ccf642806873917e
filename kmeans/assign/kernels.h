/* Where kernel.c finds the kernels; everybody else asks km_kernel_list. */
#ifndef COLL_KMEANS_ASSIGN_KERNELS_H
#define COLL_KMEANS_ASSIGN_KERNELS_H

#include "kmeans/assign/kernel.h"

extern const km_kernel km_kernel_vnni;
extern const km_kernel km_kernel_avx2;
extern const km_kernel km_kernel_scalar;

/* The processor for which OpenBLAS, where there is one, chose its instructions; or NULL. */
const char *km_core_type(void);

#endif
