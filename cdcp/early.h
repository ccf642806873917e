/* Messages that have arrived at a DCP before it can use them, in the order of their arrival. */
#ifndef COLL_CDCP_EARLY_H
#define COLL_CDCP_EARLY_H

#include "cdcp/wire.h"

#include <stddef.h>

typedef struct coll_early_message {
    struct coll_early_message *next;
    coll_wire_header header;
    int source;
    size_t bytes;
    char body[];
} coll_early_message;

/* A list of such messages. It is empty if it is all zeros. Free it with coll_early_free. */
typedef struct coll_early_list {
    coll_early_message *first, *last;
} coll_early_list;

/* Appends a copy of a message. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int coll_early_keep(coll_early_list *list, const coll_wire_header *header, const void *body,
                    size_t bytes, int source);

/*
 * Removes and returns the first message with DEPTH, or of any depth with COLL_EARLY_ANY. The caller
 * frees it. Returns NULL if there is none.
 */
enum { COLL_EARLY_ANY = -1 };
coll_early_message *coll_early_take(coll_early_list *list, int depth);

void coll_early_free(coll_early_list *list);

#endif
