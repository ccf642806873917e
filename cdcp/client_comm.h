/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator on an application rank: its number in messages to DCPs, and the number of its
 * calls so far. This entry is made by a collective call on the communicator, cached as an
 * attribute, and freed with the communicator.
 *
 * Ranks may start persistent requests in different orders, also after the communicator is freed. So
 * each persistent request has a number of its own, as if it had a communicator of its own.
 */
#ifndef COLL_CDCP_CLIENT_COMM_H
#define COLL_CDCP_CLIENT_COMM_H

#include "lib/base/attribute.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls that all members make in the same order. */
typedef struct coll_client_series {
    uint64_t number;   /* unique in the job, the same on all members */
    uint32_t sequence; /* number of the next call */
} coll_client_series;

typedef struct coll_client_comm {
    coll_attribute attribute;
    MPI_Comm comm;   /* MPI_COMM_NULL after the program has freed it */
    bool served;     /* it has a number, and DCPs take its calls */
    int rank, ranks; /* this rank in the communicator, and its size */
    /* the calls, except those of persistent requests */
    coll_client_series series;
    int requests; /* number of requests of this communicator; this entry exists as long as there
                     are any, even after the communicator is freed */
    /*
     * The operands looked up last: their code, the extent of the type, and the largest number of
     * elements that DCPs take.
     */
    MPI_Datatype type;
    MPI_Op op;
    int code;
    size_t extent;
    MPI_Count most;
    struct coll_client_comm *next, **link; /* links of the list of all entries */
} coll_client_comm;

/* Makes the entry of the application's world. coll_client_comm_end_all ends all entries. */
int coll_client_comm_begin(void);

/* Returns the entry of COMM, or NULL if COMM has none or no DCP serves this process. Local. */
coll_client_comm *coll_client_comm_of(MPI_Comm comm);

/* Returns the entry of COMM if DCPs take its calls, otherwise NULL. */
coll_client_comm *coll_client_comm_served(MPI_Comm comm);

/*
 * Returns the entry of COMM if DCPs take its calls, otherwise NULL. Sets the entry's CODE, EXTENT
 * and MOST for the operands TYPE and OP.
 */
coll_client_comm *coll_client_comm_reducing(MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/*
 * Makes the entry of COMM, which has none: the members agree on a number, and each DCP gets the
 * list of members from one of the ranks that it serves. Collective over COMM. Intercommunicators,
 * communicators with ranks that aren't this job's application ranks, and communicators of one rank
 * get an entry, but are not served. If a rank is out of memory, DCPs don't serve COMM either; this
 * is no error.
 */
int coll_client_comm_make(MPI_Comm comm);

/*
 * Begins the series of a persistent request on CLIENT_COMM, which is served: the members agree on a
 * number, as in coll_client_comm_make. READY: this rank has memory for the request. Sets *FAILED to
 * whether READY is false on a rank; then there is no series. Collective.
 */
int coll_client_series_begin(const coll_client_comm *client_comm, bool ready,
                             coll_client_series *series, bool *failed);

/* Ends SERIES after its last call: notifies the DCP. Local. */
int coll_client_series_end(const coll_client_series *series);

/* Drops a request's reference. The caller holds the job's lock. */
static inline void coll_client_comm_let_go(coll_client_comm *client_comm) {
    if (--client_comm->requests == 0 && client_comm->comm == MPI_COMM_NULL)
        coll_attribute_release(&client_comm->attribute);
}

/*
 * Frees COMM with MPI_FREE, then ends libcoll's state of COMM and COMM's entry. The DCP is notified
 * when the entry ends.
 */
int coll_client_comm_free_by(int (*mpi_free)(MPI_Comm *), MPI_Comm *comm);

/*
 * Detaches all entries from their communicators. The job's POSTS must be false, so that no messages
 * are sent to DCPs.
 */
int coll_client_comm_end_all(void);

#endif
