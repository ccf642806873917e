/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One collective call on a DCP: it collects the contributions of the ranks that the DCP serves,
 * exchanges data with the other DCPs, and returns the result or a failure to the ranks. Many calls
 * are under way at once, and each advances whenever something for it arrives. The operation's
 * service defines what is done with the values.
 *
 * When all of its ranks have contributed, the DCP exchanges data with the other DCPs in stages: by
 * recursive multiplying (lib/pattern/multiply.h) or, if each DCP gets different data, as in Bruck's
 * algorithm: in stage s an item moves by digit s of the distance from its source to its destination
 * DCP (digits: lib/pattern/radix.h).
 *
 * A failure (operands that don't match, no memory) is sent instead of values, so that every DCP
 * learns of it and gets as many messages as it expects. Only a report of late ranks is sent at once
 * to the ranks that wait; the other ranks get it when they post. A DCP that holds a call sends no
 * values, so that no DCP can complete it.
 *
 * Cost with k ranks to a DCP and D DCPs, messages of latency L and overhead o: L + k o to the DCP,
 * L + 2 (r - 1) o for each of log_r D stages, and L + k o back.
 */
#ifndef COLL_CDCP_DCP_CALL_H
#define COLL_CDCP_DCP_CALL_H

#include "cdcp/mailbox.h"
#include "cdcp/reduction_tree.h"
#include "cdcp/server_comm.h"
#include "lib/base/send_queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A rank that has contributed, and where its result goes. */
typedef struct coll_contributor {
    int place;               /* index into the communicator's OWN */
    coll_mailbox_slot *slot; /* NULL if the rank communicates by messages */
    uint32_t ticket;
    void *data; /* the rank's values in the mailbox; its result replaces them */
    const coll_wakeup *wakeup;
    int source, reply; /* its rank in the job; the tag of the result */
} coll_contributor;

/* The COUNT ranks of a communicator that are late. RANK lists the lowest NAMED of them, in
 * ascending order. */
typedef struct coll_stragglers {
    int count, named;
    int32_t rank[COLL_WIRE_NAMED];
} coll_stragglers;

typedef struct coll_dcp_service coll_dcp_service;

struct coll_dcp_call {
    coll_server_comm *comm;
    uint32_t sequence;
    /*
     * The call (cdcp/dcp_operation.h) as the first contribution described it, and the rank of the
     * member that sent this contribution. Later descriptions must be the same.
     */
    bool known;
    int code, count, rank;
    const coll_dcp_service *service;
    /* Used by the service: */
    size_t bytes; /* bytes of a value or block */
    coll_reduction_tree tree, share;
    char *rows; /* blocks of an alltoall, then memory for a rank's result; rows_room bytes */
    size_t rows_room;
    coll_contributor *contributors; /* in the order of arrival; room for COMM->here */
    int arrived, answered;
    /*
     * number of stages that this DCP has sent; number of DCPs whose items of the last of these
     * stages have arrived
     */
    int sent, received;
    coll_unexpected_queue unexpected; /* messages of later stages */
    int error_class; /* MPI_SUCCESS, or the call has failed for the reason in TEXT */
    char text[COLL_WIRE_TEXT];
    /* The search for late ranks (cdcp/straggler.h). */
    double since; /* when the call began, or when the last search ended */
    /*
     * ranks of this DCP were late when this or another DCP asked, so this DCP sends nothing to
     * other DCPs in this call before the verdict
     */
    bool held;
    coll_stragglers own, all; /* late ranks of this DCP; late ranks in all answers so far */
    int answers;
    bool asked, reported;
    struct coll_dcp_call *next; /* next unused call */
};

/*
 * The part of a call that depends on its operation. Functions that return an int return an MPI
 * error code.
 */
struct coll_dcp_service {
    const char *name;
    /*
     * Returns the radix of an exchange in which a DCP has different data for each other DCP. The
     * data goes by the digits of the distance, in a stage for each digit; directly, if the radix is
     * the number of DCPs. NULL for recursive multiplying, in which a stage sends the same data to
     * all.
     */
    int (*radix)(const coll_server_comm *comm);
    /* Writes a description of a call with CODE and COUNT to TEXT, for the error of a mismatch. */
    void (*describe)(int32_t code, int32_t count, char *text, size_t size);
    /* Prepares CALL, whose code and count have just become known. */
    int (*begin)(coll_dcp_call *call);
    /* Adds the VALUES of the member with index PLACE in the communicator's OWN. */
    int (*take)(coll_dcp_call *call, int place, const void *values);
    /*
     * Returns the number of items to be sent to the DCP at STATION, and sets *BYTES to the size of
     * one item in bytes. An item fits into a message body.
     */
    int (*items)(const coll_dcp_call *call, int station, size_t *bytes);
    /* Writes COUNT of these items, from FIRST on, to BODY. */
    void (*pack)(const coll_dcp_call *call, int station, int first, int count, char *body);
    /* Adds the items of a message. */
    int (*absorb)(coll_dcp_call *call, const coll_wire_header *header, const char *body);
    /* Sets *RESULT to the result for the member at PLACE. Returns its size in bytes, perhaps 0. */
    size_t (*result)(const coll_dcp_call *call, int place, const void **result);
};

extern const coll_dcp_service coll_dcp_allreduce, coll_dcp_bcast, coll_dcp_alltoall,
    coll_dcp_reduce_scatter;

/*
 * Copies BYTES from FROM, which may be NULL if BYTES is 0, to BODY. Returns the end of the copy.
 * Bodies are read and written byte by byte, so they need no alignment.
 */
static inline char *coll_dcp_put(char *body, const void *from, size_t bytes) {
    if (bytes)
        memcpy(body, from, bytes);
    return body + bytes;
}

/* Working data of a DCP. All its sends go through the send queue: it never waits for a send. */
typedef struct coll_dcp_context {
    const coll_job *job;
    coll_send_queue send_queue;
    char *body;     /* a buffer for message bodies, of coll_wire_room bytes */
    bool timed;     /* there is a timeout, so late ranks are reported */
    int under_way;  /* number of calls under way */
    int unanswered; /* number of questions to other DCPs that are not answered yet */
} coll_dcp_context;

/* Sends copies of HEADER and of BYTES of BODY to RANK with TAG. */
int coll_dcp_send(coll_dcp_context *context, int rank, int tag, const coll_wire_header *header,
                  const void *body, size_t bytes);

/* Sets *CALL to call number SEQUENCE of COMM. Begins the call if it is not under way. */
int coll_dcp_call_of(coll_dcp_context *context, coll_server_comm *comm, uint32_t sequence,
                     coll_dcp_call **call);

/* Returns call number SEQUENCE of COMM if it is under way, otherwise NULL. */
coll_dcp_call *coll_dcp_call_find(const coll_server_comm *comm, uint32_t sequence);

/*
 * Adds the contribution that HEADER describes; WHERE is where the result goes. A withdrawal makes
 * the call fail; VALUES is then its text.
 */
int coll_dcp_call_contribute(coll_dcp_context *context, coll_server_comm *comm,
                             const coll_wire_header *header, const void *values,
                             const coll_contributor *where);

/* Processes items or a failure from the DCP with rank SOURCE in the job. BODY has BYTES. */
int coll_dcp_call_exchange(coll_dcp_context *context, coll_server_comm *comm,
                           const coll_wire_header *header, const void *body, size_t bytes,
                           int source);

/* Marks the call as failed, unless it has failed already. FORMAT is that of printf. */
void coll_dcp_call_fail(coll_dcp_call *call, int error_class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reports to the ranks that the call has failed because of late ranks: at once to the ranks that
 * wait, to the others when they contribute.
 */
int coll_dcp_call_report(coll_dcp_context *context, coll_dcp_call *call);

/* Frees all calls of COMM, under way or unused. */
void coll_dcp_call_free_all(coll_server_comm *comm);

#endif
