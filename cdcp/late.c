#include "config.h"

#include "cdcp/late.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* The ranks of this DCP that are missing: how many, and the first of them in NAMED. */
static int count_missing(const coll_team *team, uint32_t sequence, int32_t named[]) {
    int missing = 0;
    for (int i = 0; i < team->here; i++)
        if (coll_team_misses(team, i, sequence) && missing++ < COLL_WIRE_NAMED)
            named[missing - 1] = team->own[i];
    return missing;
}

/* The same for a DCP that doesn't know the team: all that it serves. */
static int count_all(const coll_team *team, const coll_job *job, int dcp, int32_t named[]) {
    int missing = 0;
    for (int i = 0; i < team->ranks; i++)
        if (job->mapping.dcp_of[team->members[i]] == dcp && missing++ < COLL_WIRE_NAMED)
            named[missing - 1] = i;
    return missing;
}

static void note_missing(coll_reduction *reduction, int missing, const int32_t named[]) {
    reduction->missing += missing;
    for (int i = 0; i < missing && i < COLL_WIRE_NAMED && reduction->named < COLL_WIRE_NAMED; i++)
        reduction->names[reduction->named++] = named[i];
}

static void write_names(const coll_reduction *reduction, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "rank%s", reduction->missing > 1 ? "s" : "");
    for (int i = 0; i < reduction->named; i++)
        length += (size_t)snprintf(text + length, size - length, "%s %d", i ? "," : "",
                                   reduction->names[i]);
    if (reduction->missing > reduction->named)
        snprintf(text + length, size - length, " and %d more",
                 reduction->missing - reduction->named);
}

static int send_to_others(coll_desk *desk, const coll_reduction *reduction, coll_wire_kind kind,
                          const void *body, size_t bytes) {
    const coll_team *team = reduction->team;
    const coll_wire_header header = {
        .team = team->number, .sequence = reduction->sequence, .kind = (int32_t)kind};
    int code = MPI_SUCCESS;
    for (int i = 0; i < team->stations && code == MPI_SUCCESS; i++)
        if (i != team->position)
            code = coll_outbox_send(&desk->outbox, team->station[i], COLL_JOB_TAG_TO_DCP, &header,
                                    body, bytes);
    return code;
}

/* All DCPs have answered. With nobody missing, messages are slow: ask again later. */
static int report(coll_desk *desk, coll_reduction *reduction) {
    char names[120];
    if (!reduction->missing) {
        reduction->asked = false;
        reduction->since = PMPI_Wtime();
        return MPI_SUCCESS;
    }
    write_names(reduction, names, sizeof names);
    coll_reduction_fail(reduction, MPI_ERR_OTHER,
                        "allreduce: %s not there for %.1f s; see what keeps them, or raise "
                        "COLL_TIMEOUT (seconds)",
                        names, desk->job->timeout);
    reduction->reported = true;
    /* The other DCPs first: a late rank that hears of the error and comes must not find them
     * ignorant, or it would complete what has failed. */
    int code =
        send_to_others(desk, reduction, COLL_WIRE_VERDICT, reduction->text, sizeof reduction->text);
    return code == MPI_SUCCESS ? coll_reduction_answer(desk, reduction) : code;
}

static int ask(coll_desk *desk, coll_reduction *reduction) {
    int32_t named[COLL_WIRE_NAMED];
    reduction->asked = true;
    reduction->answers = reduction->missing = reduction->named = 0;
    note_missing(reduction, count_missing(reduction->team, reduction->sequence, named), named);
    return send_to_others(desk, reduction, COLL_WIRE_QUESTION, NULL, 0);
}

int coll_late_look(coll_desk *desk, coll_reduction *reduction, double now) {
    if (reduction->asked || reduction->reported || !reduction->arrived ||
        now - reduction->since < desk->job->timeout)
        return MPI_SUCCESS;
    int code = ask(desk, reduction);
    return code == MPI_SUCCESS && reduction->team->stations == 1 ? report(desk, reduction) : code;
}

int coll_late_asked(coll_desk *desk, const coll_team *team, const coll_wire_header *header,
                    int source) {
    int32_t named[COLL_WIRE_NAMED] = {0};
    coll_wire_header answer = {
        .team = header->team, .sequence = header->sequence, .kind = COLL_WIRE_ANSWER, .count = -1};
    if (team && coll_team_ready(team))
        answer.count = count_missing(team, header->sequence, named);
    return coll_outbox_send(&desk->outbox, source, COLL_JOB_TAG_TO_DCP, &answer, named,
                            sizeof named);
}

int coll_late_answered(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                       const int32_t named[], int source) {
    coll_reduction *reduction = coll_reduction_find(team, header->sequence);
    if (!reduction || !reduction->asked || reduction->reported)
        return MPI_SUCCESS;
    int32_t all[COLL_WIRE_NAMED];
    if (header->count < 0)
        note_missing(reduction, count_all(team, desk->job, source, all), all);
    else
        note_missing(reduction, header->count, named);
    bool last = ++reduction->answers == team->stations - 1;
    return last ? report(desk, reduction) : MPI_SUCCESS;
}

int coll_late_told(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                   const char *text) {
    int32_t named[COLL_WIRE_NAMED];
    bool over = !coll_reduction_find(team, header->sequence) &&
                count_missing(team, header->sequence, named) == 0;
    if (over) /* the late ones have come just now */
        return MPI_SUCCESS;
    coll_reduction *reduction;
    int code = coll_reduction_of(desk, team, header->sequence, &reduction);
    if (code != MPI_SUCCESS)
        return code;
    coll_reduction_fail(reduction, MPI_ERR_OTHER, "%.*s", COLL_WIRE_TEXT, text);
    reduction->reported = true;
    return coll_reduction_answer(desk, reduction);
}
