/*
 * How many requests libcoll holds open: a test that is linked with this stands in for the MPI
 * library's PMPI entries that begin and complete them.
 */
#ifndef COLL_TESTS_SUPPORT_OPEN_REQUESTS_H
#define COLL_TESTS_SUPPORT_OPEN_REQUESTS_H

/* In this process; those that are complete but nobody has taken count. Safe from any thread. */
int open_requests(void);

#endif
