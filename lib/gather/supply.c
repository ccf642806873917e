/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/gather/intake.h"

#include "lib/algorithm/rank_order.h"
#include "lib/plan/plan.h"

enum { REQUESTS = COLL_SUPPLY_REQUESTS };

static int receive_grant(coll_supply *s) {
    if (s->allowed == s->call.data->bytes)
        return MPI_SUCCESS;
    s->task.active++;
    return coll_irecv(s->call.comm, s->grant, 1, MPI_UINT64_T, s->call.args.shape->root,
                      s->call.tag + 1, &s->requests[0]);
}

/* Starts to send the next segment, as request I. */
static int send_segment(coll_supply *s, int i) {
    const coll_data *data = s->call.data;
    size_t length = coll_least(data->bytes - s->sent, s->segment);
    char *segment = s->memory ? s->memory + (size_t)(i - 1) * s->segment : NULL;
    const void *bytes = coll_data_read(data, s->sent, length, segment);
    s->sent += length;
    s->task.active++;
    return coll_isend(s->call.comm, bytes, (int)length, MPI_BYTE, s->call.args.shape->root,
                      s->call.tag, &s->requests[i]);
}

static int send_allowed(coll_supply *s) {
    int code = MPI_SUCCESS;
    for (int i = 1; i < REQUESTS && s->sent < s->allowed && code == MPI_SUCCESS; i++)
        if (s->requests[i] == MPI_REQUEST_NULL)
            code = send_segment(s, i);
    return code;
}

static int start_supply(coll_task *task) {
    coll_supply *supply = (coll_supply *)task;
    supply->sent = 0;
    supply->allowed = supply->unasked;
    int code = receive_grant(supply);
    return code == MPI_SUCCESS ? send_allowed(supply) : code;
}

static int handle_completions(coll_task *task, int count) {
    coll_supply *supply = (coll_supply *)task;
    int code = MPI_SUCCESS;
    task->active -= count;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        if (task->indices[i] == 0) {
            supply->allowed = (size_t)*supply->grant;
            code = receive_grant(supply);
        }
    return code == MPI_SUCCESS ? send_allowed(supply) : code;
}

coll_task *coll_supply_open(const coll_exec_args *call, const coll_credit *credit, void *memory) {
    size_t bytes = call->data->bytes;
    int place = call->args.line->position - 1;
    char *scratch = memory;
    coll_supply *supply = coll_scratch_alloc(&scratch, sizeof *supply);
    *supply = (coll_supply){.task = {.start = start_supply,
                                     .handle_completed = handle_completions,
                                     .comm = call->comm,
                                     .count = REQUESTS,
                                     .requests = supply->requests,
                                     .peers = supply->peers,
                                     .indices = supply->completed,
                                     .statuses = supply->statuses},
                            .call = *call,
                            .segment = coll_least(credit->segment, bytes),
                            .unasked = coll_intake_unasked(call, credit, place, bytes),
                            .grant = (void *)scratch};
    if (!coll_data_in_place(call->data))
        supply->memory = (char *)(supply->grant + 1);
    for (int i = 0; i < REQUESTS; i++) {
        supply->requests[i] = MPI_REQUEST_NULL;
        supply->peers[i] = call->args.shape->root;
    }
    return &supply->task;
}
