/* Messages that a DCP has got too early, in the order in which they came. */
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

/* All zeros: none. Ends with coll_early_free. */
typedef struct coll_early_list {
    coll_early_message *first, *last;
} coll_early_list;

/* Keeps a copy of a message. MPI_ERR_NO_MEM. */
int coll_early_keep(coll_early_list *list, const coll_wire_header *header, const void *body,
                    size_t bytes, int source);

/* Takes out the first one of DEPTH, or of any with COLL_EARLY_ANY; the caller frees it. NULL: none.
 */
enum { COLL_EARLY_ANY = -1 };
coll_early_message *coll_early_take(coll_early_list *list, int depth);

void coll_early_free(coll_early_list *list);

#endif
