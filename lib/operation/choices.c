#include "config.h"

#include "lib/operation/choices.h"

#include <stdlib.h>

/* Of sizes, each with a choice. */
enum { CLASSES = 65 };

struct coll_kept_choice {
    coll_shape call;
    coll_choice choice; /* no algorithm: none */
};

/* Nothing else of a call is what a prediction in one site asks for. */
static bool is_for(const struct coll_kept_choice *kept, const coll_shape *call) {
    return kept->choice.algorithm && kept->call.reproducible == call->reproducible &&
           coll_select_alike(&kept->call, call) &&
           coll_select_applicable(kept->choice.algorithm, call);
}

bool coll_choices_find(const coll_choices *choices, coll_operation operation, bool started,
                       const coll_shape *call, coll_choice *choice) {
    const struct coll_kept_choice *kept = choices->kept[operation][started];
    if (!kept)
        return false;
    kept += coll_size_class(call->bytes);
    if (!is_for(kept, call))
        return false;
    *choice = kept->choice;
    return true;
}

void coll_choices_keep(coll_choices *choices, coll_operation operation, bool started,
                       const coll_shape *call, const coll_choice *choice) {
    struct coll_kept_choice **kept = &choices->kept[operation][started];
    if (!*kept)
        *kept = calloc(CLASSES, sizeof **kept);
    if (*kept)
        (*kept)[coll_size_class(call->bytes)] =
            (struct coll_kept_choice){.call = *call, .choice = *choice};
}

void coll_choices_free(coll_choices *choices) {
    for (int i = 0; i < COLL_OPERATIONS; i++)
        for (int started = 0; started < 2; started++)
            free(choices->kept[i][started]);
}
