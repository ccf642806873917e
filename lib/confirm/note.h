/*
 * Small messages by which the root of a confirmed broadcast and the others agree how it stands.
 * They are under every transport's eager limit: they leave without waiting for their receivers,
 * unless these have never been spoken to.
 */
#ifndef COLL_LIB_CONFIRM_NOTE_H
#define COLL_LIB_CONFIRM_NOTE_H

#include "lib/base/comm.h"
#include "lib/confirm/blame.h"
#include "lib/confirm/watch.h"

#include <mpi.h>
#include <stdint.h>

typedef enum coll_note_kind {
    /* to the root */
    COLL_NOTE_ACCOUNT,  /* I'm alive, and so far I've come */
    COLL_NOTE_RECEIVED, /* all segments of this epoch are here, and nothing older is on its way */
    COLL_NOTE_CORRUPT,  /* a segment of this epoch came damaged */
    /* from the root */
    COLL_NOTE_ALIVE,   /* so am I */
    COLL_NOTE_RESTART, /* once more, in this epoch, with whom BLAME makes suspect at the end */
    COLL_NOTE_DONE,    /* all have all */
    /* either way */
    COLL_NOTE_FAILED, /* it's over, the communicator is broken */
} coll_note_kind;

/* Travels as it is. */
typedef struct coll_confirm_note {
    uint32_t sequence, epoch;
    uint32_t kind;
    int32_t from;
    coll_account account;
    coll_blame blame;
} coll_confirm_note;

/* A note that is leaving, to a rank. */
typedef struct coll_letter {
    coll_confirm_note note;
    int to;
} coll_letter;

/* All of them; what a request sends is the letter at the same place. */
typedef struct coll_notes {
    coll_comm *comm;
    int tag;
    int count, capacity;
    MPI_Request *requests;
    coll_letter **letters;
} coll_notes;

/* Sends a copy of NOTE to rank TO. Errors: MPI_ERR_NO_MEM and MPI's own. */
int coll_notes_send(coll_notes *notes, const coll_confirm_note *note, int to);

/* Forgets what has left. */
int coll_notes_sweep(coll_notes *notes);

/* Waits until all have left, or none has for SECONDS (0: for ever): notes->count says which. */
int coll_notes_flush(coll_notes *notes, coll_wait *wait, double seconds);

/* Frees it all; every note must have left. */
void coll_notes_free(coll_notes *notes);

#endif
