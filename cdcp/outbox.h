/* Messages that a DCP has under way: it never waits for one to leave. */
#ifndef COLL_CDCP_OUTBOX_H
#define COLL_CDCP_OUTBOX_H

#include "cdcp/wire.h"

#include <mpi.h>
#include <stddef.h>

typedef struct coll_outbox_letter coll_outbox_letter;

typedef struct coll_outbox {
    MPI_Comm wire;
    coll_outbox_letter *first; /* those that haven't left yet */
} coll_outbox;

/* Sends HEADER and BYTES of BODY, both copied, to RANK with TAG. */
int coll_outbox_send(coll_outbox *outbox, int rank, int tag, const coll_wire_header *header,
                     const void *body, size_t bytes);

/* Frees the letters that have left. */
int coll_outbox_clear(coll_outbox *outbox);

/* Waits until all have left. */
int coll_outbox_close(coll_outbox *outbox);

#endif
