#include "config.h"

#include "lib/confirm/note.h"

#include "lib/error.h"

#include <stdbool.h>
#include <stdlib.h>

static bool make_room(coll_notes *notes) {
    if (notes->count < notes->capacity)
        return true;
    size_t capacity = notes->capacity ? 2 * (size_t)notes->capacity : 16;
    MPI_Request *requests = realloc(notes->requests, capacity * sizeof *requests);
    if (requests)
        notes->requests = requests;
    coll_note **letters = realloc(notes->letters, capacity * sizeof *letters);
    if (letters)
        notes->letters = letters;
    int *peers = realloc(notes->peers, capacity * sizeof *peers);
    if (peers)
        notes->peers = peers;
    if (!requests || !letters || !peers)
        return false;
    notes->capacity = (int)capacity;
    return true;
}

int coll_notes_send(coll_notes *notes, const coll_note *note, int to) {
    coll_note *letter = malloc(sizeof *letter);
    if (!letter || !make_room(notes)) {
        free(letter);
        return coll_error(MPI_ERR_NO_MEM, "no memory for a note to rank %d", to);
    }
    *letter = *note;
    int i = notes->count;
    int code = PMPI_Isend(letter, (int)sizeof *letter, MPI_BYTE, to, notes->tag, notes->comm,
                          &notes->requests[i]);
    if (code != MPI_SUCCESS) {
        free(letter);
        return code;
    }
    notes->letters[i] = letter;
    notes->peers[i] = to;
    notes->count++;
    return MPI_SUCCESS;
}

int coll_notes_sweep(coll_notes *notes) {
    int kept = 0, code = MPI_SUCCESS;
    for (int i = 0; i < notes->count; i++) {
        int done = 0;
        if (code == MPI_SUCCESS)
            code = PMPI_Test(&notes->requests[i], &done, MPI_STATUS_IGNORE);
        if (done) {
            free(notes->letters[i]);
            continue;
        }
        notes->requests[kept] = notes->requests[i];
        notes->letters[kept] = notes->letters[i];
        notes->peers[kept++] = notes->peers[i];
    }
    notes->count = kept;
    return code;
}

int coll_notes_flush(coll_notes *notes, coll_wait *wait, double seconds) {
    for (;;) {
        int code = coll_notes_sweep(notes);
        if (code != MPI_SUCCESS || notes->count == 0)
            return code;
        int i;
        code = coll_wait_any_for(wait, seconds, notes->count, notes->requests, &i);
        if (code != MPI_SUCCESS || i == MPI_UNDEFINED)
            return code;
    }
}

void coll_notes_free(coll_notes *notes) {
    free(notes->requests);
    free(notes->letters);
    free(notes->peers);
    *notes = (coll_notes){0};
}
