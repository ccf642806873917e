/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/straggler.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/*
 * Adds RANK to the named ranks, which are the lowest ranks in ascending order: the text is then the
 * same whatever the order of the answers.
 */
static void add_name(coll_stragglers *late, int32_t rank) {
    int at = late->named;
    while (at > 0 && late->rank[at - 1] > rank)
        at--;
    if (at == COLL_WIRE_NAMED)
        return;
    int moved = late->named < COLL_WIRE_NAMED ? late->named++ - at : COLL_WIRE_NAMED - 1 - at;
    memmove(&late->rank[at + 1], &late->rank[at], (size_t)moved * sizeof *late->rank);
    late->rank[at] = rank;
}

static void add_rank(coll_stragglers *late, int32_t rank) {
    add_name(late, rank);
    late->count++;
}

static void add_all(coll_stragglers *late, int count, const int32_t named[]) {
    for (int i = 0; i < count && i < COLL_WIRE_NAMED; i++)
        add_name(late, named[i]);
    late->count += count;
}

/* Returns the ranks of this DCP that have not contributed to call SEQUENCE or a later one. */
static coll_stragglers list_missing(const coll_server_comm *comm, uint32_t sequence) {
    coll_stragglers late = {0};
    for (int i = 0; i < comm->here; i++)
        if (coll_server_comm_misses(comm, i, sequence))
            add_rank(&late, comm->own[i]);
    return late;
}

/* Adds all ranks that DCP serves, because DCP doesn't know the communicator yet. */
static void add_served(coll_stragglers *late, const coll_server_comm *comm, const coll_job *job,
                       int dcp) {
    for (int i = 0; i < comm->ranks; i++)
        if (job->mapping.dcp_of[comm->members[i]] == dcp)
            add_rank(late, i);
}

static void write_names(const coll_stragglers *late, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "rank%s", late->count > 1 ? "s" : "");
    for (int i = 0; i < late->named; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s %d", i ? "," : "", late->rank[i]);
    if (late->count > late->named)
        snprintf(text + length, size - length, " and %d more", late->count - late->named);
}

static int send_to_others(coll_dcp_context *context, const coll_dcp_call *call, coll_wire_kind kind,
                          const void *body, size_t bytes) {
    const coll_server_comm *comm = call->comm;
    const coll_wire_header header = {
        .comm = comm->number, .sequence = call->sequence, .kind = (int32_t)kind};
    int code = MPI_SUCCESS;
    for (int i = 0; i < comm->stations && code == MPI_SUCCESS; i++)
        if (i != comm->position)
            code =
                coll_dcp_send(context, comm->station[i], COLL_JOB_TAG_TO_DCP, &header, body, bytes);
    return code;
}

/*
 * Reports the missing ranks after all DCPs have answered. If none is missing, messages are slow:
 * the DCP asks again later.
 */
static int report_missing(coll_dcp_context *context, coll_dcp_call *call) {
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
                       call->service->name, names, context->job->timeout);
    int code = send_to_others(context, call, COLL_WIRE_VERDICT, call->text, sizeof call->text);
    return code == MPI_SUCCESS ? coll_dcp_call_report(context, call) : code;
}

int coll_straggler_hold(coll_dcp_context *context, coll_server_comm *comm, uint32_t sequence) {
    coll_stragglers late = list_missing(comm, sequence);
    coll_dcp_call *call;
    if (!late.count)
        return MPI_SUCCESS;
    int code = coll_dcp_call_of(context, comm, sequence, &call);
    if (code == MPI_SUCCESS && !call->held) {
        call->held = true;
        call->own = late;
    }
    return code;
}

/* Returns this DCP's answer about its ranks: the late ranks for which it holds the call, if any. */
static coll_stragglers own_answer(const coll_server_comm *comm, uint32_t sequence) {
    const coll_dcp_call *call = coll_dcp_call_find(comm, sequence);
    return call && call->held ? call->own : (coll_stragglers){0};
}

static int ask_other_dcps(coll_dcp_context *context, coll_dcp_call *call) {
    int code = coll_straggler_hold(context, call->comm, call->sequence);
    call->asked = true;
    call->answers = 0;
    context->unanswered += call->comm->stations - 1;
    call->all = own_answer(call->comm, call->sequence);
    return code == MPI_SUCCESS ? send_to_others(context, call, COLL_WIRE_QUESTION, NULL, 0) : code;
}

int coll_straggler_check(coll_dcp_context *context, coll_dcp_call *call, double now) {
    if (call->asked || call->reported || !call->arrived ||
        now - call->since < context->job->timeout)
        return MPI_SUCCESS;
    int code = ask_other_dcps(context, call);
    return code == MPI_SUCCESS && call->comm->stations == 1 ? report_missing(context, call) : code;
}

int coll_straggler_answer(coll_dcp_context *context, coll_server_comm *comm,
                          const coll_wire_header *header, int source) {
    coll_wire_header answer = {
        .comm = header->comm, .sequence = header->sequence, .kind = COLL_WIRE_ANSWER, .count = -1};
    coll_stragglers late = {0};
    int code = MPI_SUCCESS;
    if (coll_server_comm_ready(comm)) {
        code = coll_straggler_hold(context, comm, header->sequence);
        late = own_answer(comm, header->sequence);
        answer.count = late.count;
    }
    return code == MPI_SUCCESS ? coll_dcp_send(context, source, COLL_JOB_TAG_TO_DCP, &answer,
                                               late.rank, sizeof late.rank)
                               : code;
}

int coll_straggler_process_answer(coll_dcp_context *context, coll_server_comm *comm,
                                  const coll_wire_header *header, const int32_t named[],
                                  int source) {
    coll_dcp_call *call = coll_dcp_call_find(comm, header->sequence);
    if (!call || !call->asked || call->reported)
        return MPI_SUCCESS;
    if (header->count < 0)
        add_served(&call->all, comm, context->job, source);
    else
        add_all(&call->all, header->count, named);
    bool last = ++call->answers == comm->stations - 1;
    return last ? report_missing(context, call) : MPI_SUCCESS;
}

int coll_straggler_process_verdict(coll_dcp_context *context, coll_server_comm *comm,
                                   const coll_wire_header *header, const char *text) {
    bool over = !coll_dcp_call_find(comm, header->sequence) &&
                list_missing(comm, header->sequence).count == 0;
    if (over) /* the call has ended already, after an earlier verdict of another DCP */
        return MPI_SUCCESS;
    coll_dcp_call *call;
    int code = coll_dcp_call_of(context, comm, header->sequence, &call);
    if (code != MPI_SUCCESS || call->reported)
        return code;
    coll_dcp_call_fail(call, MPI_ERR_OTHER, "%.*s", COLL_WIRE_TEXT, text);
    return coll_dcp_call_report(context, call);
}
