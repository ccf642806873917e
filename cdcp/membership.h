/*
 * A communicator as an application rank and the engine know it: the number that stands for it on
 * the wire, and how far its allreduces have come. Made when a communicator is first looked at,
 * cached as an attribute, dropped with the communicator.
 */
#ifndef COLL_CDCP_MEMBERSHIP_H
#define COLL_CDCP_MEMBERSHIP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct coll_membership {
    MPI_Comm comm;     /* MPI_COMM_NULL once its user has freed it */
    bool served;       /* DCPs take its allreduces */
    bool registered;   /* it has a number */
    uint64_t number;   /* unique in the job, the same on all members */
    int rank;          /* this one in the communicator */
    uint32_t sequence; /* of the next allreduce */
    int requests;      /* that still refer to it */
    /* The operands asked for last: what they are as a code, and the most elements taken. */
    MPI_Datatype type;
    MPI_Op op;
    int code;
    size_t extent;
    MPI_Count most;
    struct coll_membership *next, **link; /* the list of all */
} coll_membership;

/* That of COMM, made if need be; local. NULL for a null communicator and without memory. */
coll_membership *coll_membership_of(MPI_Comm comm);

/* Gives it a number, and tells the DCPs who its members are. Collective over its communicator. */
int coll_membership_register(coll_membership *membership);

/* Looks the operands up, for code, extent and most. */
void coll_membership_look_up(coll_membership *membership, MPI_Datatype type, MPI_Op op);

/* One of its requests has ended: it goes if its communicator is gone too. */
void coll_membership_let_go(coll_membership *membership);

/* Detaches all of them from their communicators, and tells nobody any more. */
int coll_membership_end_all(void);

#endif
