/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the requests that libcoll has open. A test that is linked with this file replaces the PMPI
 * functions of the MPI library that start and complete requests.
 */
#ifndef COLL_TESTS_SUPPORT_OPEN_REQUESTS_H
#define COLL_TESTS_SUPPORT_OPEN_REQUESTS_H

/*
 * Returns the number of open requests of this process, including completed ones that have not been
 * waited for or tested. Thread-safe.
 */
int open_requests(void);

#endif
