#include "config.h"

#include "cdcp/dcp_reduction.h"

#include "cdcp/operands.h"
#include "lib/base/error.h"
#include "lib/base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void) {
    return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for an allreduce");
}

static coll_reduction **window_place(const coll_team *team, uint32_t sequence) {
    return &team->window[sequence & (team->window_size - 1)];
}

coll_reduction *coll_reduction_find(const coll_team *team, uint32_t sequence) {
    coll_reduction *found = *window_place(team, sequence);
    return found && found->sequence == sequence ? found : NULL;
}

/* Doubles the window until SEQUENCE has a place of its own beside those under way. */
static bool widen(coll_team *team, uint32_t sequence) {
    while (*window_place(team, sequence)) {
        uint32_t before = team->window_size;
        coll_reduction **old = team->window;
        coll_reduction **wider = calloc(2 * (size_t)before, sizeof *wider);
        if (!wider)
            return false;
        team->window = wider;
        team->window_size = 2 * before;
        for (uint32_t i = 0; i < before; i++)
            if (old[i])
                *window_place(team, old[i]->sequence) = old[i];
        free(old);
    }
    return true;
}

static void free_reduction(coll_reduction *reduction) {
    if (!reduction)
        return;
    coll_early_free(&reduction->early);
    coll_forest_free(&reduction->forest);
    free(reduction->contributors);
    free(reduction);
}

void coll_reduction_free_all(coll_team *team) {
    for (uint32_t i = 0; i < team->window_size; i++)
        free_reduction(team->window[i]);
    while (team->spare) {
        coll_reduction *next = team->spare->next;
        free_reduction(team->spare);
        team->spare = next;
    }
}

static coll_reduction *make(const coll_team *team) {
    coll_reduction *made = calloc(1, sizeof *made);
    coll_contributor *contributors = malloc((size_t)team->here * sizeof *contributors);
    if (!made || !contributors) {
        free(made);
        free(contributors);
        return NULL;
    }
    made->contributors = contributors;
    return made;
}

/* Empties one that was used before, or is new; memory stays. */
static void begin(coll_reduction *reduction, coll_team *team, uint32_t sequence, bool timed) {
    reduction->team = team;
    reduction->sequence = sequence;
    reduction->known = reduction->held = reduction->asked = reduction->reported = false;
    reduction->arrived = reduction->answered = reduction->sent = reduction->received = 0;
    reduction->error_class = MPI_SUCCESS;
    reduction->since = timed ? PMPI_Wtime() : 0;
}

int coll_reduction_of(coll_desk *desk, coll_team *team, uint32_t sequence,
                      coll_reduction **reduction) {
    *reduction = coll_reduction_find(team, sequence);
    if (*reduction)
        return MPI_SUCCESS;
    coll_reduction *begun = team->spare;
    if (begun)
        team->spare = begun->next;
    else
        begun = make(team);
    if (!begun || !widen(team, sequence)) {
        free_reduction(begun);
        return no_memory();
    }
    begin(begun, team, sequence, desk->timed);
    *window_place(team, sequence) = begun;
    team->under_way++;
    desk->under_way++;
    *reduction = begun;
    return MPI_SUCCESS;
}

static void end(coll_desk *desk, coll_reduction *reduction) {
    coll_team *team = reduction->team;
    *window_place(team, reduction->sequence) = NULL;
    reduction->next = team->spare;
    team->spare = reduction;
    team->under_way--;
    desk->under_way--;
}

void coll_reduction_fail(coll_reduction *reduction, int error_class, const char *format, ...) {
    if (reduction->error_class != MPI_SUCCESS)
        return;
    va_list arguments;
    va_start(arguments, format);
    locale_t before = coll_plain_begin();
    vsnprintf(reduction->text, sizeof reduction->text, format, arguments);
    coll_plain_end(before);
    va_end(arguments);
    reduction->error_class = error_class;
}

/* The first operands count; others must be the same. */
static int compare_operands(coll_reduction *reduction, const coll_wire_header *header) {
    if (!reduction->known) {
        reduction->known = true;
        reduction->code = header->code;
        reduction->count = header->count;
        reduction->rank = header->rank;
        reduction->bytes = (size_t)header->count * coll_operands_extent(header->code);
        const coll_team *team = reduction->team;
        return coll_forest_begin(&reduction->forest, team->ranks, reduction->bytes, team->here)
                   ? MPI_SUCCESS
                   : no_memory();
    }
    if (reduction->code != header->code || reduction->count != header->count)
        coll_reduction_fail(reduction, MPI_ERR_OTHER,
                            "allreduce: rank %d brings %d of %s to %s, but rank %d brings %d of %s "
                            "to %s",
                            header->rank, header->count, coll_operands_type_name(header->code),
                            coll_operands_op_name(header->code), reduction->rank, reduction->count,
                            coll_operands_type_name(reduction->code),
                            coll_operands_op_name(reduction->code));
    return MPI_SUCCESS;
}

/* MPI computes WITH op INTO: what MPI defines, bit for bit. */
static int combine(void *into, const void *with, void *context) {
    const coll_reduction *reduction = context;
    return PMPI_Reduce_local(with, into, reduction->count, coll_operands_type(reduction->code),
                             coll_operands_op(reduction->code));
}

static int add(coll_reduction *reduction, int first, int height, const void *value) {
    int error;
    if (!coll_forest_add(&reduction->forest, first, height, value, combine, reduction, &error))
        return no_memory();
    return error;
}

static int put_into_slot(const coll_reduction *reduction, const coll_contributor *to) {
    coll_mailbox_slot *slot = to->slot;
    bool good = reduction->error_class == MPI_SUCCESS;
    if (good && reduction->bytes)
        memcpy(slot->data, coll_forest_value(&reduction->forest, 0), reduction->bytes);
    else if (!good) {
        slot->code = reduction->error_class;
        memcpy(slot->data, reduction->text, sizeof reduction->text);
    }
    coll_mailbox_event event = good ? COLL_MAILBOX_DONE : COLL_MAILBOX_FAILED;
    atomic_store_explicit(&slot->state, coll_mailbox_state(to->ticket, event),
                          memory_order_release);
    return MPI_SUCCESS;
}

static int send_result(coll_desk *desk, const coll_reduction *reduction,
                       const coll_contributor *to) {
    coll_wire_header header = {.kind = COLL_WIRE_RESULT};
    if (reduction->error_class == MPI_SUCCESS)
        return coll_outbox_send(&desk->outbox, to->source, to->reply, &header,
                                reduction->bytes ? coll_forest_value(&reduction->forest, 0) : NULL,
                                reduction->bytes);
    header.kind = COLL_WIRE_FAILURE;
    header.code = reduction->error_class;
    return coll_outbox_send(&desk->outbox, to->source, to->reply, &header, reduction->text,
                            sizeof reduction->text);
}

/* Tells those contributors that haven't been told yet of the result or failure. */
static int answer(coll_desk *desk, coll_reduction *reduction) {
    int code = MPI_SUCCESS;
    for (; reduction->answered < reduction->arrived && code == MPI_SUCCESS; reduction->answered++) {
        const coll_contributor *to = &reduction->contributors[reduction->answered];
        code = to->slot ? put_into_slot(reduction, to) : send_result(desk, reduction, to);
    }
    return code;
}

static int send_to_all(coll_desk *desk, const coll_reduction *reduction,
                       const coll_multiply_stage *stage, const coll_wire_header *header,
                       const void *body, size_t bytes) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < stage->sends && code == MPI_SUCCESS; i++)
        code = coll_outbox_send(&desk->outbox, reduction->team->station[stage->to[i]],
                                COLL_JOB_TAG_TO_DCP, header, body, bytes);
    return code;
}

/* Values follow the nodes at once: they are read byte by byte. */
static size_t pack_nodes(const coll_reduction *reduction, int first, int items, char *body) {
    coll_wire_node *nodes = (void *)body;
    char *values = body + (size_t)items * sizeof *nodes;
    for (int i = 0; i < items; i++) {
        const coll_forest_node *node = &reduction->forest.nodes[first + i];
        nodes[i] = (coll_wire_node){node->first, node->height};
        if (reduction->bytes)
            memcpy(values + (size_t)i * reduction->bytes,
                   coll_forest_value(&reduction->forest, first + i), reduction->bytes);
    }
    return (size_t)items * (sizeof *nodes + reduction->bytes);
}

/* Sends what there is, in as many pieces as bodies need; the same to all. */
static int send_nodes(coll_desk *desk, const coll_reduction *reduction,
                      const coll_multiply_stage *stage, coll_wire_header *header) {
    size_t room = coll_wire_room(desk->job->limit);
    int most = (int)(room / (sizeof(coll_wire_node) + reduction->bytes));
    int count = reduction->forest.count, code = MPI_SUCCESS;
    for (int first = 0; first < count && code == MPI_SUCCESS; first += most) {
        header->items = count - first < most ? count - first : most;
        header->more = first + header->items < count;
        size_t bytes = pack_nodes(reduction, first, header->items, desk->body);
        code = send_to_all(desk, reduction, stage, header, desk->body, bytes);
    }
    return code;
}

static int send_stage(coll_desk *desk, const coll_reduction *reduction) {
    const coll_multiply_stage *stage = &reduction->team->stage[reduction->sent];
    coll_wire_header header = {.team = reduction->team->number,
                               .sequence = reduction->sequence,
                               .kind = COLL_WIRE_NODES,
                               .code = reduction->code,
                               .count = reduction->count,
                               .rank = reduction->rank,
                               .depth = stage->depth};
    if (reduction->error_class == MPI_SUCCESS)
        return send_nodes(desk, reduction, stage, &header);
    header.kind = COLL_WIRE_FAILURE;
    header.first = reduction->error_class;
    return send_to_all(desk, reduction, stage, &header, reduction->text, sizeof reduction->text);
}

/* A message of the stage that is being received. */
static int absorb(coll_reduction *reduction, const coll_wire_header *header, const char *body) {
    int code = compare_operands(reduction, header);
    if (header->kind == COLL_WIRE_FAILURE)
        coll_reduction_fail(reduction, header->first, "%.*s", COLL_WIRE_TEXT, body);
    const coll_wire_node *nodes = (const void *)body;
    const char *values = body + (size_t)header->items * sizeof *nodes;
    for (int i = 0; i < header->items && code == MPI_SUCCESS; i++) {
        if (reduction->error_class != MPI_SUCCESS)
            break;
        code =
            add(reduction, nodes[i].first, nodes[i].height, values + (size_t)i * reduction->bytes);
    }
    reduction->received += !header->more;
    return code;
}

/* Takes the early messages that belong to the stage that was sent last, in their order. */
static int absorb_early(coll_reduction *reduction) {
    int depth = reduction->team->stage[reduction->sent - 1].depth, code = MPI_SUCCESS;
    coll_early_message *message;
    while (code == MPI_SUCCESS && (message = coll_early_take(&reduction->early, depth))) {
        code = absorb(reduction, &message->header, message->body);
        free(message);
    }
    return code;
}

/* Goes as far as what has arrived allows. */
static int move_on(coll_desk *desk, coll_reduction *reduction) {
    const coll_team *team = reduction->team;
    int code = MPI_SUCCESS;
    bool waits_for_verdict = reduction->held && !reduction->reported;
    if (reduction->arrived < team->here || waits_for_verdict)
        return MPI_SUCCESS;
    while (code == MPI_SUCCESS) {
        bool stage_complete = reduction->sent == 0 ||
                              reduction->received == team->stage[reduction->sent - 1].receives;
        if (!stage_complete)
            return MPI_SUCCESS;
        if (reduction->sent == team->stages)
            break;
        code = send_stage(desk, reduction);
        reduction->sent++;
        reduction->received = 0;
        if (code == MPI_SUCCESS)
            code = absorb_early(reduction);
    }
    if (code == MPI_SUCCESS)
        code = answer(desk, reduction);
    end(desk, reduction);
    return code;
}

int coll_reduction_report(coll_desk *desk, coll_reduction *reduction) {
    reduction->reported = true;
    int code = answer(desk, reduction);
    return code == MPI_SUCCESS ? move_on(desk, reduction) : code;
}

int coll_reduction_contribute(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                              const void *values, const coll_contributor *where) {
    coll_reduction *reduction;
    int code = coll_reduction_of(desk, team, header->sequence, &reduction);
    if (code != MPI_SUCCESS)
        return code;
    code = compare_operands(reduction, header);
    reduction->contributors[reduction->arrived++] = *where;
    coll_team_count(team, header->rank, header->sequence);
    if (code == MPI_SUCCESS && reduction->error_class == MPI_SUCCESS)
        code = add(reduction, header->rank, 0, values);
    if (code == MPI_SUCCESS && reduction->reported)
        code = answer(desk, reduction);
    return code == MPI_SUCCESS ? move_on(desk, reduction) : code;
}

int coll_reduction_exchange(coll_desk *desk, coll_team *team, const coll_wire_header *header,
                            const void *body, size_t bytes, int source) {
    coll_reduction *reduction;
    int code = coll_reduction_of(desk, team, header->sequence, &reduction);
    if (code != MPI_SUCCESS)
        return code;
    bool due = reduction->sent > 0 && team->stage[reduction->sent - 1].depth == header->depth;
    if (!due)
        return coll_early_keep(&reduction->early, header, body, bytes, source);
    code = absorb(reduction, header, body);
    return code == MPI_SUCCESS ? move_on(desk, reduction) : code;
}
