#include "config.h"

#include "cdcp/outbox.h"

#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

struct coll_outbox_letter {
    coll_outbox_letter *next;
    MPI_Request request;
    coll_wire_header header;
    char body[];
};

int coll_outbox_send(coll_outbox *outbox, int rank, int tag, const coll_wire_header *header,
                     const void *body, size_t bytes) {
    coll_outbox_letter *letter = malloc(sizeof *letter + bytes);
    if (!letter)
        return coll_error(MPI_ERR_NO_MEM, "no memory for a message of %zu bytes", bytes);
    letter->header = *header;
    if (bytes)
        memcpy(letter->body, body, bytes);
    int left = 0, length = (int)(sizeof *header + bytes);
    int code =
        PMPI_Isend(&letter->header, length, MPI_BYTE, rank, tag, outbox->wire, &letter->request);
    if (code == MPI_SUCCESS)
        code = PMPI_Test(&letter->request, &left, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || left) {
        free(letter);
        return code;
    }
    letter->next = outbox->first;
    outbox->first = letter;
    return MPI_SUCCESS;
}

int coll_outbox_clear(coll_outbox *outbox) {
    coll_outbox_letter **link = &outbox->first;
    while (*link) {
        coll_outbox_letter *letter = *link;
        int left = 0, code = PMPI_Test(&letter->request, &left, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            return code;
        if (left) {
            *link = letter->next;
            free(letter);
        } else
            link = &letter->next;
    }
    return MPI_SUCCESS;
}

int coll_outbox_close(coll_outbox *outbox) {
    int code = MPI_SUCCESS;
    while (outbox->first && code == MPI_SUCCESS) {
        coll_outbox_letter *letter = outbox->first;
        code = PMPI_Wait(&letter->request, MPI_STATUS_IGNORE);
        outbox->first = letter->next;
        free(letter);
    }
    return code;
}
