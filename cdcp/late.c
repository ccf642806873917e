#include "config.h"

#include "cdcp/late.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/*
 * Adds RANK to the names, of which the lowest ones are kept in ascending order: the text is then
 * the same whatever the order of the answers.
 */
static void add_name(coll_late_ranks *late, int32_t rank) {
    int at = late->named;
    while (at > 0 && late->rank[at - 1] > rank)
        at--;
    if (at == COLL_WIRE_NAMED)
        return;
    int moved = late->named < COLL_WIRE_NAMED ? late->named++ - at : COLL_WIRE_NAMED - 1 - at;
    memmove(&late->rank[at + 1], &late->rank[at], (size_t)moved * sizeof *late->rank);
    late->rank[at] = rank;
}

static void add_rank(coll_late_ranks *late, int32_t rank) {
    add_name(late, rank);
    late->count++;
}

static void add_all(coll_late_ranks *late, int count, const int32_t named[]) {
    for (int i = 0; i < count && i < COLL_WIRE_NAMED; i++)
        add_name(late, named[i]);
    late->count += count;
}

/* Returns the missing ranks of this DCP. */
static coll_late_ranks list_missing(const coll_team *team, uint32_t sequence) {
    coll_late_ranks late = {0};
    for (int i = 0; i < team->here; i++)
        if (coll_team_misses(team, i, sequence))
            add_rank(&late, team->own[i]);
    return late;
}

/* Adds all ranks that DCP serves, because it doesn't know the team yet. */
static void add_served(coll_late_ranks *late, const coll_team *team, const coll_job *job, int dcp) {
    for (int i = 0; i < team->ranks; i++)
        if (job->mapping.dcp_of[team->members[i]] == dcp)
            add_rank(late, i);
}

static void write_names(const coll_late_ranks *late, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "rank%s", late->count > 1 ? "s" : "");
    for (int i = 0; i < late->named; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s %d", i ? "," : "", late->rank[i]);
    if (late->count > late->named)
        snprintf(text + length, size - length, " and %d more", late->count - late->named);
}

static int send_to_others(coll_desk *desk, const coll_dcp_call *call, coll_wire_kind kind,
                          const void *body, size_t bytes) {
    const coll_team *team = call->team;
    const coll_wire_header header = {
        .team = team->number, .sequence = call->sequence, .kind = (int32_t)kind};
    int code = MPI_SUCCESS;
    for (int i = 0; i < team->stations && code == MPI_SUCCESS; i++)
        if (i != team->position)
            code = coll_outbox_send(&desk->outbox, team->station[i], COLL_JOB_TAG_TO_DCP, &header,
                                    body, bytes);
    return code;
}

/*
 * Reports the missing ranks after all DCPs have answered. If none is missing, messages are slow:
 * the DCP asks again later.
 */
static int report_missing(coll_desk *desk, coll_dcp_call *call) {
    char names[120];
    if (!call->all.count) {
        call->asked = false;
        call->since = PMPI_Wtime();
        return MPI_SUCCESS;
    }
    write_names(&call->all, names, sizeof names);
    coll_dcp_call_fail(call, MPI_ERR_OTHER,
                       "%s: %s not there for %.1f s; see what keeps them, or raise "
                       "COLL_TIMEOUT (seconds)",
                       call->service->name, names, desk->job->timeout);
    int code = send_to_others(desk, call, COLL_WIRE_VERDICT, call->text, sizeof call->text);
    return code == MPI_SUCCESS ? coll_dcp_call_report(desk, call) : code;
}

int coll_late_hold(coll_desk *desk, coll_team *team, uint32_t sequence) {
    coll_late_ranks late = list_missing(team, sequence);
    coll_dcp_call *call;
    if (!late.count)
        return MPI_SUCCESS;
    int code = coll_dcp_call_of(desk, team, sequence, &call);
    if (code == MPI_SUCCESS && !call->held) {
        call->held = true;
        call->own = late;
    }
    return code;
}

/* Returns the answer of this DCP about its ranks. */
static coll_late_ranks own_answer(const coll_team *team, uint32_t sequence) {
    const coll_dcp_call *call = coll_dcp_call_find(team, sequence);
    return call && call->held ? call->own : (coll_late_ranks){0};
}

static int ask_other_dcps(coll_desk *desk, coll_dcp_call *call) {
    int code = coll_late_hold(desk, call->team, call->sequence);
    call->asked = true;
    call->answers = 0;
    call->all = own_answer(call->team, call->sequence);
    return code == MPI_SUCCESS ? send_to_others(desk, call, COLL_WIRE_QUESTION, NULL, 0) : code;
}

int coll_late_look(coll_desk *desk, coll_dcp_call *call, double now) {
    if (call->asked || call->reported || !call->arrived || now - call->since < desk->job->timeout)
        return MPI_SUCCESS;
    int code = ask_other_dcps(desk, call);
    return code == MPI_SUCCESS && call->team->stations == 1 ? report_missing(desk, call) : code;
}

int coll_late_asked(coll_desk *desk, coll_team *team, const coll_wire_header *header, int source) {
    coll_wire_header answer = {
        .team = header->team, .sequence = header->sequence, .kind = COLL_WIRE_ANSWER, .count = -1};
    coll_late_ranks late = {0};
    int code = MPI_SUCCESS;
    if (coll_team_ready(team)) {
        code = coll_late_hold(desk, team, header->sequence);
        late = own_answer(team, header->sequence);
        answer.count = late.count;
    }
    return code == MPI_SUCCESS ? coll_outbox_send(&desk->outbox, source, COLL_JOB_TAG_TO_DCP,
                                                  &answer, late.rank, sizeof late.rank)
                               : code;
}

int coll_late_answered(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                       const int32_t named[], int source) {
    coll_dcp_call *call = coll_dcp_call_find(team, header->sequence);
    if (!call || !call->asked || call->reported)
        return MPI_SUCCESS;
    if (header->count < 0)
        add_served(&call->all, team, desk->job, source);
    else
        add_all(&call->all, header->count, named);
    bool last = ++call->answers == team->stations - 1;
    return last ? report_missing(desk, call) : MPI_SUCCESS;
}

int coll_late_told(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                   const char *text) {
    bool over = !coll_dcp_call_find(team, header->sequence) &&
                list_missing(team, header->sequence).count == 0;
    if (over) /* the call has failed already, because of an earlier verdict of another DCP */
        return MPI_SUCCESS;
    coll_dcp_call *call;
    int code = coll_dcp_call_of(desk, team, header->sequence, &call);
    if (code != MPI_SUCCESS || call->reported)
        return code;
    coll_dcp_call_fail(call, MPI_ERR_OTHER, "%.*s", COLL_WIRE_TEXT, text);
    return coll_dcp_call_report(desk, call);
}
