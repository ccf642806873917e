/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/bench/contender.h"

#include <coll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int contender_add(contender_list *list, contender_kind kind, const char *algorithm,
                  const char *params, contender_run *run, MPI_Comm comm) {
    contender *more = realloc(list->at, (size_t)(list->count + 1) * sizeof *more);
    if (!more)
        return MPI_ERR_NO_MEM;
    list->at = more;
    contender *c = &list->at[list->count];
    *c = (contender){.kind = kind, .run = run, .comm = MPI_COMM_NULL};
    snprintf(c->algorithm, sizeof c->algorithm, "%s", algorithm);
    snprintf(c->params, sizeof c->params, "%s", params);
    int code = MPI_Comm_dup(comm, &c->comm);
    if (code == MPI_SUCCESS)
        list->count++;
    return code;
}

/* Adds the algorithm SPEC; its name and its parameters go to different columns of the table. */
static int add_spec(contender_list *list, const char *operation, const char *spec,
                    contender_run *run, MPI_Comm comm) {
    char name[CONTENDER_NAME];
    const char *colon = strchr(spec, ':');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    int code = contender_add(list, CONTENDER_OURS, name, colon ? colon + 1 : "", run, comm);
    return code == MPI_SUCCESS ? COLL_Set(list->at[list->count - 1].comm, operation, spec) : code;
}

enum { MOST = 64 }; /* maximum number of algorithms of an operation */

int contender_explain(MPI_Comm comm, const char *operation, size_t bytes, int root,
                      const char *name, COLL_Candidate *found) {
    COLL_Candidate candidates[MOST];
    int count,
        code = COLL_Explain(operation, (MPI_Count)bytes, root, comm, candidates, MOST, &count);
    *found = (COLL_Candidate){.name = NULL};
    for (int i = 0; code == MPI_SUCCESS && i < count && i < MOST; i++)
        if (name ? strcmp(candidates[i].name, name) == 0 : candidates[i].chosen)
            *found = candidates[i];
    return code;
}

int contender_add_table(contender_list *list, const char *operation, bool uneven,
                        contender_run *run, MPI_Comm comm) {
    COLL_Candidate candidates[MOST];
    int count;
    int code = COLL_Explain(operation, 1, 0, comm, candidates, MOST, &count);
    if (code == MPI_SUCCESS)
        code = add_spec(list, operation, "auto", run, comm);
    for (int i = 0; i < count && i < MOST && code == MPI_SUCCESS; i++)
        if (strcmp(candidates[i].name, "native") != 0 && candidates[i].applicable &&
            (!uneven || candidates[i].uneven))
            code = add_spec(list, operation, candidates[i].spec, run, comm);
    return code;
}

int contender_add_ours(contender_list *list, const char *operation, const char *const specs[],
                       contender_run *run, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    for (; *specs && code == MPI_SUCCESS; specs++)
        code = add_spec(list, operation, *specs, run, comm);
    return code;
}

void contender_free(contender_list *list) {
    for (int i = 0; i < list->count; i++)
        MPI_Comm_free(&list->at[i].comm);
    free(list->at);
    *list = (contender_list){0};
}
