/*
 * Control messages between the root of a confirmed broadcast and the other ranks. They are smaller
 * than the eager limit of every transport, so they leave without waiting for the receiver, unless
 * there is no connection to it yet.
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
    COLL_NOTE_ACCOUNT, /* heartbeat, with the sender's progress */
    /* the sender has all segments of this epoch, and no older message to it is in flight */
    COLL_NOTE_RECEIVED,
    COLL_NOTE_CORRUPT, /* the sender received a damaged segment of this epoch */
    /* from the root */
    COLL_NOTE_ALIVE, /* heartbeat of the root */
    /*
     * start this epoch: send all again, with the rank that BLAME makes suspect at the end of the
     * chain
     */
    COLL_NOTE_RESTART,
    COLL_NOTE_DONE, /* all ranks have all segments */
    /* in either direction */
    COLL_NOTE_FAILED, /* the broadcast has failed; the communicator is broken */
} coll_note_kind;

/* Sent as it is in memory. */
typedef struct coll_confirm_note {
    uint32_t sequence, epoch;
    uint32_t kind;
    int32_t from;
    coll_account account;
    coll_blame blame;
} coll_confirm_note;

/* A note being sent to a rank. */
typedef struct coll_letter {
    coll_confirm_note note;
    int to;
} coll_letter;

/* All notes being sent: requests[i] is that of letters[i]. */
typedef struct coll_notes {
    coll_comm *comm;
    int tag;
    int count, capacity;
    MPI_Request *requests;
    coll_letter **letters;
} coll_notes;

/* Starts to send a copy of NOTE to rank TO. Errors: MPI_ERR_NO_MEM and MPI's own. */
int coll_notes_send(coll_notes *notes, const coll_confirm_note *note, int to);

/* Frees the notes that have been sent. Returns MPI's errors. */
int coll_notes_sweep(coll_notes *notes);

/*
 * Waits until all notes have been sent, or for SECONDS (0: no limit) none has completed;
 * notes->count is the number of notes left.
 */
int coll_notes_flush(coll_notes *notes, coll_wait *wait, double seconds);

/* Frees the memory of NOTES; all notes must have been sent. */
void coll_notes_free(coll_notes *notes);

#endif
