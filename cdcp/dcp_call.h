/*
 * One collective call on a DCP: the contributions of the ranks that it serves, the exchange with
 * the other DCPs, the result or failure back to the ranks. Many are under way at once, each moves
 * on whenever something of it arrives. What is done with the values is the operation's service.
 *
 * When all of its ranks have contributed, the DCP exchanges what it has with the other DCPs, one
 * stage after the other: by recursive multiplying (lib/pattern/multiply.h), or what is for one DCP
 * by the digits of the way there (lib/pattern/radix.h).
 *
 * A failure (operands that don't match, no memory) goes the same way as the values, so that every
 * DCP hears of it and gets as many messages as it expects. Only a report of late ranks goes back at
 * once, to those that wait; the others get it when they post. A DCP that holds a call sends no
 * values, so that no DCP can complete it.
 *
 * Cost with k ranks to a DCP and D DCPs, messages of latency L and overhead o: L + k o to the DCP,
 * for each of log_r D stages L + 2 (r - 1) o, and L + k o back.
 */
#ifndef COLL_CDCP_DCP_CALL_H
#define COLL_CDCP_DCP_CALL_H

#include "cdcp/forest.h"
#include "cdcp/mailbox.h"
#include "cdcp/outbox.h"
#include "cdcp/team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A rank that has contributed, and where it awaits the result. */
typedef struct coll_contributor {
    int place;               /* among the team's own */
    coll_mailbox_slot *slot; /* NULL: by message */
    uint32_t ticket;
    void *data; /* where its values lie in the mailbox */
    const coll_doorbell *bell;
    int source, reply; /* its rank in the job, the tag */
} coll_contributor;

/* Ranks of a communicator that are late: how many, the lowest of them in ascending order. */
typedef struct coll_late_ranks {
    int count, named;
    int32_t rank[COLL_WIRE_NAMED];
} coll_late_ranks;

typedef struct coll_dcp_service coll_dcp_service;

struct coll_dcp_call {
    coll_team *team;
    uint32_t sequence;
    /* What is called (cdcp/dcp_operation.h), and a member that says so; others must say the same.
     */
    bool known;
    int code, count, rank;
    const coll_dcp_service *service;
    /* The service's. */
    size_t bytes; /* of a value, or of a block */
    coll_forest forest, share;
    char *rows; /* what ranks give and get, of rows_room bytes */
    size_t rows_room;
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
    struct coll_dcp_call *next; /* of those to use again */
};

/* What a DCP does for an operation. Functions that return an int return an MPI error code. */
struct coll_dcp_service {
    const char *name;
    /*
     * The radix of an exchange in which a DCP has something else for each other one: it goes there
     * by the digits of the way, a stage for each. With as many as there are stations it goes
     * directly. NULL: by recursive multiplying, where a stage sends the same to all.
     */
    int (*radix)(const coll_team *team);
    /* Writes what a call with CODE and COUNT is about, for the text of a mismatch. */
    void (*describe)(int32_t code, int32_t count, char *text, size_t size);
    /* CALL has got its code and count. */
    int (*begin)(coll_dcp_call *call);
    /* Takes the VALUES of the member at PLACE of the team's own. */
    int (*take)(coll_dcp_call *call, int place, const void *values);
    /* How many items a message to the DCP at STATION has, and the bytes of each: at most a body's.
     */
    int (*items)(const coll_dcp_call *call, int station, size_t *bytes);
    /* Writes COUNT of them from FIRST on. */
    void (*pack)(const coll_dcp_call *call, int station, int first, int count, char *body);
    /* Takes the items of a message. */
    int (*absorb)(coll_dcp_call *call, const coll_wire_header *header, const char *body);
    /* The result for the member at PLACE, and its bytes, perhaps none. */
    size_t (*result)(const coll_dcp_call *call, int place, const void **result);
};

extern const coll_dcp_service coll_dcp_allreduce, coll_dcp_bcast, coll_dcp_alltoall,
    coll_dcp_reduce_scatter;

/* Copies BYTES, perhaps none, from nowhere then, to BODY, and returns what is behind them. Bodies
 * are read and written byte by byte, and so aligned for nothing. */
static inline char *coll_dcp_put(char *body, const void *from, size_t bytes) {
    if (bytes)
        memcpy(body, from, bytes);
    return body + bytes;
}

/* What a DCP works with; sends go through the outbox. */
typedef struct coll_desk {
    const coll_job *job;
    coll_outbox outbox;
    char *body; /* for messages to be put together: coll_wire_room bytes */
    bool timed; /* late ranks are to be reported */
    int under_way;
} coll_desk;

/* The call number SEQUENCE of TEAM, begun if need be. */
int coll_dcp_call_of(coll_desk *desk, coll_team *team, uint32_t sequence, coll_dcp_call **call);

/* The same if it is under way, else NULL. */
coll_dcp_call *coll_dcp_call_find(const coll_team *team, uint32_t sequence);

/* Takes the contribution that HEADER describes; WHERE is where the result goes. */
int coll_dcp_call_contribute(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                             const void *values, const coll_contributor *where);

/* Takes items or a failure from another DCP, a message of BYTES after the header. */
int coll_dcp_call_exchange(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                           const void *body, size_t bytes, int source);

/* Makes it fail, the first time; the text is printf's. */
void coll_dcp_call_fail(coll_dcp_call *call, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The verdict on late ranks, with which it has failed: those that wait hear of it now, the others
 * when they come.
 */
int coll_dcp_call_report(coll_desk *desk, coll_dcp_call *call);

/* Frees all of TEAM's, under way or not. */
void coll_dcp_call_free_all(coll_team *team);

#endif
