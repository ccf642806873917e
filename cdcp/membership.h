/*
 * A communicator as an application rank and the engine know it: the number that stands for it on
 * the wire, and how far its calls have come. Made by a collective call on the communicator,
 * cached as an attribute, dropped with the communicator.
 */
#ifndef COLL_CDCP_MEMBERSHIP_H
#define COLL_CDCP_MEMBERSHIP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct coll_membership {
    MPI_Comm comm;     /* MPI_COMM_NULL once its user has freed it */
    bool served;       /* it has a number, and DCPs take its calls */
    uint64_t number;   /* unique in the job, the same on all members */
    int rank, ranks;   /* this one in the communicator, and how many there are */
    uint32_t sequence; /* of the next call */
    int requests;      /* that still refer to it */
    /* The operands asked for last: what they are as a code, and the most elements taken. */
    MPI_Datatype type;
    MPI_Op op;
    int code;
    size_t extent;
    MPI_Count most;
    struct coll_membership *next, **link; /* the list of all */
} coll_membership;

/* Makes that of the application's world. Ends with coll_membership_end_all. */
int coll_membership_begin(void);

/* That of COMM, or NULL where none has been made or no DCPs serve. Local. */
coll_membership *coll_membership_of(MPI_Comm comm);

/* The same where DCPs take its calls, else NULL. */
coll_membership *coll_membership_served(MPI_Comm comm);

/* The same with the operands TYPE and OP looked up, for code, extent and most. */
coll_membership *coll_membership_reducing(MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/*
 * Makes that of COMM, which has none: its members agree on a number, and the DCPs hear who they
 * are. Collective over COMM. Intercommunicators, communicators with others than this job's
 * application ranks and those of one rank are not served. Where a rank has no memory none is made
 * on any.
 */
int coll_membership_make(MPI_Comm comm);

/* One of its requests has ended: it goes if its communicator is gone too. Under the job's lock. */
static inline void coll_membership_let_go(coll_membership *membership) {
    if (--membership->requests == 0 && membership->comm == MPI_COMM_NULL)
        free(membership);
}

/* Detaches all of them from their communicators, and tells nobody any more. */
int coll_membership_end_all(void);

#endif
