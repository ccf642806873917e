#include "config.h"

#include "lib/gather/intake.h"

#include "lib/algorithm/line.h"
#include "lib/schedule/plan.h"

enum { SENDS = COLL_INTAKE_SENDS };

typedef struct supplier {
    const coll_gather_call *call;
    size_t segment;
    size_t sent, allowed;
    uint64_t grant;
    MPI_Request requests[1 + SENDS]; /* the next grant, then segments */
    int peers[1 + SENDS];
    char *memory; /* SENDS segments, NULL where the data moves in place */
} supplier;

static int await_grant(supplier *s) {
    return PMPI_Irecv(&s->grant, 1, MPI_UINT64_T, s->call->root, COLL_TAG_GRANT,
                      s->call->comm->private, &s->requests[0]);
}

/* Sends the next segment by request I. */
static int send_segment(supplier *s, int i) {
    const coll_data *data = s->call->mine;
    size_t length = coll_least(data->bytes - s->sent, s->segment);
    char *segment = s->memory ? s->memory + (size_t)(i - 1) * s->segment : NULL;
    const void *bytes = coll_data_read(data, s->sent, length, segment);
    s->sent += length;
    return PMPI_Isend(bytes, (int)length, MPI_BYTE, s->call->root, COLL_TAG_GATHER,
                      s->call->comm->private, &s->requests[i]);
}

static int send_allowed(supplier *s) {
    int code = MPI_SUCCESS;
    for (int i = 1; i <= SENDS && s->sent < s->allowed && code == MPI_SUCCESS; i++)
        if (s->requests[i] == MPI_REQUEST_NULL)
            code = send_segment(s, i);
    return code;
}

static int supply(supplier *s) {
    size_t bytes = s->call->mine->bytes;
    int index = 0, code = s->allowed < bytes ? await_grant(s) : MPI_SUCCESS;
    while (code == MPI_SUCCESS) {
        code = send_allowed(s);
        if (code == MPI_SUCCESS)
            code = coll_wait_any(&s->call->comm->wait, 1 + SENDS, s->requests, s->peers, &index);
        if (code != MPI_SUCCESS || index == MPI_UNDEFINED)
            return code;
        if (index > 0)
            continue;
        s->allowed = (size_t)s->grant;
        if (s->allowed < bytes)
            code = await_grant(s);
    }
    return code;
}

int coll_intake_supply(const coll_gather_call *call, const coll_intake *intake) {
    size_t bytes = call->mine->bytes;
    supplier s = {.call = call, .segment = coll_least(intake->segment, bytes)};
    const coll_line *line = coll_line_of(call->comm, call->shape);
    s.allowed = coll_intake_unasked(call, intake, line->position - 1, bytes);
    if (!coll_data_in_place(call->mine))
        s.memory = call->comm->room;
    for (int i = 0; i <= SENDS; i++) {
        s.requests[i] = MPI_REQUEST_NULL;
        s.peers[i] = call->root;
    }
    int code = supply(&s);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(1 + SENDS, s.requests);
    return code;
}
