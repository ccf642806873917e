/* Messages that a DCP is sending. The DCP never waits for a send to complete. */
#ifndef COLL_CDCP_OUTBOX_H
#define COLL_CDCP_OUTBOX_H

#include "cdcp/wire.h"

#include <mpi.h>
#include <stddef.h>

typedef struct coll_outbox_letter coll_outbox_letter;

typedef struct coll_outbox {
    MPI_Comm wire;
    coll_outbox_letter *first; /* messages whose sends are not complete */
} coll_outbox;

/* Sends copies of HEADER and of BYTES of BODY to RANK with TAG. */
int coll_outbox_send(coll_outbox *outbox, int rank, int tag, const coll_wire_header *header,
                     const void *body, size_t bytes);

/* Frees the messages whose sends are complete. */
int coll_outbox_clear(coll_outbox *outbox);

/* Waits until all sends are complete. */
int coll_outbox_close(coll_outbox *outbox);

#endif
