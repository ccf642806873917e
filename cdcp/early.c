#include "config.h"

#include "cdcp/early.h"

#include "lib/base/error.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int coll_early_keep(coll_early_list *list, const coll_wire_header *header, const void *body,
                    size_t bytes, int source) {
    coll_early_message *message = malloc(sizeof *message + bytes);
    if (!message)
        return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for a message");
    *message = (coll_early_message){.header = *header, .source = source, .bytes = bytes};
    if (bytes)
        memcpy(message->body, body, bytes);
    if (list->last)
        list->last->next = message;
    else
        list->first = message;
    list->last = message;
    return MPI_SUCCESS;
}

coll_early_message *coll_early_take(coll_early_list *list, int depth) {
    coll_early_message *before = NULL, *message = list->first;
    while (message && depth != COLL_EARLY_ANY && message->header.depth != depth) {
        before = message;
        message = message->next;
    }
    if (!message)
        return NULL;
    if (before)
        before->next = message->next;
    else
        list->first = message->next;
    if (list->last == message)
        list->last = before;
    return message;
}

void coll_early_free(coll_early_list *list) {
    coll_early_message *message;
    while ((message = coll_early_take(list, COLL_EARLY_ANY)))
        free(message);
}
