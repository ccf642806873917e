/*
 * One allreduce on a DCP: the contributions of the ranks that it serves, the exchange with the
 * other DCPs, the result or failure back to the ranks. Many are under way at once, each moves on
 * whenever something of it arrives.
 *
 * The DCP combines what it gets along the tree (cdcp/forest.h). When all of its ranks have
 * contributed, it exchanges its forest with the other DCPs by recursive multiplying
 * (lib/pattern/multiply.h), one stage after the other. After the last stage the tree is one node,
 * the result.
 *
 * A failure (operands that don't match, no memory) goes the same way as the nodes, so that every
 * DCP hears of it and gets as many messages as it expects. Only a report of late ranks goes back at
 * once, to those that wait; the others get it when they post. A DCP that holds an allreduce sends
 * no values, so that no DCP can complete it.
 *
 * Cost with k ranks to a DCP and D DCPs, messages of latency L and overhead o: L + k o to the DCP,
 * for each of log_r D stages L + 2 (r - 1) o, and L + k o back.
 */
#ifndef COLL_CDCP_DCP_REDUCTION_H
#define COLL_CDCP_DCP_REDUCTION_H

#include "cdcp/forest.h"
#include "cdcp/mailbox.h"
#include "cdcp/outbox.h"
#include "cdcp/team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rank that has contributed, and where it awaits the result. */
typedef struct coll_contributor {
    coll_mailbox_slot *slot; /* NULL: by message */
    uint32_t ticket;
    int source, reply; /* its rank in the job, the tag */
} coll_contributor;

/* Ranks of a communicator that are late: how many, the lowest of them in ascending order. */
typedef struct coll_late_ranks {
    int count, named;
    int32_t rank[COLL_WIRE_NAMED];
} coll_late_ranks;

struct coll_reduction {
    coll_team *team;
    uint32_t sequence;
    /* The operands, and a member that brought them; others must bring the same. */
    bool known;
    int code, count, rank;
    size_t bytes;
    coll_forest forest;
    coll_contributor *contributors; /* in the order of arrival, room for all of the team's here */
    int arrived, answered;
    int sent, received;    /* stages that have been sent; messages of the last one that have come */
    coll_early_list early; /* messages of later stages */
    int error_class;       /* MPI_SUCCESS, or it has failed for the reason in text */
    char text[COLL_WIRE_TEXT];
    /* The search for late ranks (cdcp/late.h). */
    double since;             /* when it began or was last asked about */
    bool held;                /* this DCP has said that it misses ranks: a verdict will come */
    coll_late_ranks own, all; /* what it has said; with what the others have said */
    int answers;
    bool asked, reported;
    struct coll_reduction *next; /* of those to use again */
};

/* What a DCP works with; sends go through the outbox. */
typedef struct coll_desk {
    const coll_job *job;
    coll_outbox outbox;
    char *body; /* for messages to be put together: coll_wire_room bytes */
    bool timed; /* late ranks are to be reported */
    int under_way;
} coll_desk;

/* The allreduce number SEQUENCE of TEAM, begun if need be. */
int coll_reduction_of(coll_desk *desk, coll_team *team, uint32_t sequence,
                      coll_reduction **reduction);

/* The same if it is under way, else NULL. */
coll_reduction *coll_reduction_find(const coll_team *team, uint32_t sequence);

/* Takes the contribution that HEADER describes; WHERE is where the result goes. */
int coll_reduction_contribute(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                              const void *values, const coll_contributor *where);

/* Takes nodes or a failure from another DCP, a message of BYTES after the header. */
int coll_reduction_exchange(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                            const void *body, size_t bytes, int source);

/* Makes it fail, the first time; the text is printf's. */
void coll_reduction_fail(coll_reduction *reduction, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The verdict on late ranks, with which it has failed: those that wait hear of it now, the others
 * when they come.
 */
int coll_reduction_report(coll_desk *desk, coll_reduction *reduction);

/* Frees all of TEAM's, under way or not. */
void coll_reduction_free_all(coll_team *team);

#endif
