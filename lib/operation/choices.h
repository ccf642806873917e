/*
 * Choices that rest on predictions, for all communicators whose ranks have the same places and
 * costs: a prediction takes milliseconds, and programs make copies of a communicator. What is
 * found here is what would be predicted anew.
 */
#ifndef COLL_LIB_OPERATION_CHOICES_H
#define COLL_LIB_OPERATION_CHOICES_H

#include "lib/operation/operations.h"
#include "lib/operation/select.h"

#include <stdbool.h>

/* All zero: none yet. To be used by one thread at a time. */
typedef struct coll_choices {
    struct coll_kept_choice *kept[COLL_OPERATIONS][2]; /* of blocking calls, and of started ones */
} coll_choices;

/* Whether there is one for a call of OPERATION like CALL, which goes to *CHOICE. */
bool coll_choices_find(const coll_choices *choices, coll_operation operation, bool started,
                       const coll_shape *call, coll_choice *choice);

/* Keeps CHOICE, which was predicted for CALL; not where there is no memory. */
void coll_choices_keep(coll_choices *choices, coll_operation operation, bool started,
                       const coll_shape *call, const coll_choice *choice);

void coll_choices_free(coll_choices *choices);

#endif
