/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/engine.h"

#include <string.h>

/* Returns the index of segment SEGMENT of NODE's round among the segments of all rounds. */
static size_t segment_index(const coll_engine *engine, const coll_node *node, int segment) {
    const coll_plan_size *size = &engine->plan->size;
    return (size_t)(node->round % (uint64_t)size->window) * (size_t)size->segments +
           (size_t)segment;
}

static size_t own_segment_index(const coll_engine *engine, const coll_node *node) {
    return segment_index(engine, node, node->step.segment);
}

static char *scratch_of(const coll_engine *engine, const coll_node *node) {
    return engine->segments + own_segment_index(engine, node) * engine->plan->size.segment +
           node->step.at;
}

/* Returns the data of the block that is NEXT blocks after the block in which STEP begins. */
static coll_data block_of(const coll_engine *engine, const coll_step *step, int next) {
    const coll_exec_args *call = &engine->call;
    bool is_input = step->buffer == COLL_INPUT;
    const coll_blocks *blocks = is_input ? call->args.input : call->args.blocks;
    const int block = step->block + next;
    if (!blocks)
        return is_input ? *call->input : *call->data;
    return coll_blocks_at(blocks, call->args.shape->graph ? block : call->args.line->order[block]);
}

/* Returns whether the bytes of STEP are contiguous in memory, within its first block. */
static bool is_in_place(const coll_data *block, const coll_step *step) {
    return coll_data_in_place(block) && step->length <= block->bytes - step->from;
}

/* Copies the bytes of STEP from MEMORY to their blocks if STORE, else from the blocks to MEMORY. */
static void move_bytes(const coll_engine *engine, const coll_step *step, char *memory, bool store) {
    size_t from = step->from, left = step->length;
    for (int next = 0; left > 0; next++, from = 0) {
        coll_data block = block_of(engine, step, next);
        size_t length = coll_least(left, block.bytes - from);
        if (store)
            coll_data_write(&block, from, length, memory);
        else
            coll_data_pack(&block, from, length, memory);
        memory += length;
        left -= length;
    }
}

/* Returns data of the datatype that is combined. */
static const coll_data *combined_type(const coll_engine *engine) {
    const coll_exec_args *call = &engine->call;
    if (call->args.input)
        return &call->args.input->longest;
    return call->input->bytes ? call->input : call->data;
}

/* Returns the second range of scratch memory that a step uses, at FROM in segment BLOCK. */
static char *other_scratch(const coll_engine *engine, const coll_node *node) {
    const size_t segment = segment_index(engine, node, node->step.block);
    return engine->segments + segment * engine->plan->size.segment + node->step.from;
}

/* Combines the bytes at MEMORY with the second range of scratch memory that the step uses. */
static int combine_scratch(coll_engine *engine, const coll_node *node, char *memory) {
    const coll_step *step = &node->step;
    coll_operands operands = {.data = combined_type(engine),
                              .length = step->length,
                              .bytes = memory,
                              .others = other_scratch(engine, node),
                              .bytes_first = step->scratch_first,
                              .to_bytes = step->to_scratch};
    return coll_reduction_combine(engine->call.reduction, &operands, engine->spare);
}

/* Combines the bytes of STEP with the bytes at MEMORY. */
static int combine_blocks(coll_engine *engine, const coll_step *step, char *memory) {
    size_t from = step->from, left = step->length;
    int code = MPI_SUCCESS;
    for (int next = 0; left > 0 && code == MPI_SUCCESS; next++, from = 0) {
        coll_data block = block_of(engine, step, next);
        coll_operands operands = {.data = &block,
                                  .from = from,
                                  .length = coll_least(left, block.bytes - from),
                                  .bytes = memory,
                                  .bytes_first = step->scratch_first,
                                  .to_bytes = step->to_scratch};
        code = coll_reduction_combine(engine->call.reduction, &operands, engine->spare);
        memory += operands.length;
        left -= operands.length;
    }
    return code;
}

static coll_held held_by(const coll_node *node) {
    const coll_step *step = &node->step;
    return (coll_held){.round = node->round + 1,
                       .from = step->from,
                       .at = step->at,
                       .block = step->block,
                       .buffer = step->buffer};
}

static bool is_held(const coll_held *held, const coll_node *node) {
    coll_held wanted = held_by(node);
    return held->round == wanted.round && held->from == wanted.from && held->at == wanted.at &&
           held->block == wanted.block && held->buffer == wanted.buffer;
}

/* Returns memory from which the bytes of NODE can be sent, or into which they can be received;
 * packs them if necessary. */
static void *message_buffer(coll_engine *engine, const coll_node *node) {
    const coll_step *step = &node->step;
    if (step->length == 0)
        return NULL;
    if (step->buffer == COLL_SCRATCH)
        return scratch_of(engine, node);
    coll_data block = block_of(engine, step, 0);
    if (is_in_place(&block, step))
        return coll_data_target(&block, step->from, NULL);
    coll_held *held = &engine->held[own_segment_index(engine, node)];
    if (step->kind == COLL_STEP_SEND && !is_held(held, node)) {
        move_bytes(engine, step, scratch_of(engine, node), false);
        *held = held_by(node);
    }
    return scratch_of(engine, node);
}

/* Executes a copy or a combination. If the step writes data, the packed data in the segments of its
 * round is outdated. */
static int execute_local_step(coll_engine *engine, const coll_node *node) {
    const coll_step *step = &node->step;
    const coll_plan_size *size = &engine->plan->size;
    char *memory = scratch_of(engine, node);
    int code = MPI_SUCCESS;
    if (step->kind == COLL_STEP_COMBINE && step->buffer == COLL_SCRATCH)
        return combine_scratch(engine, node, memory);
    if (step->buffer == COLL_SCRATCH) {
        memcpy(memory, other_scratch(engine, node), step->length);
        return MPI_SUCCESS;
    }
    if (step->kind == COLL_STEP_COMBINE)
        code = combine_blocks(engine, step, memory);
    else
        move_bytes(engine, step, memory, !step->to_scratch);
    size_t first = (size_t)(node->round % (uint64_t)size->window) * (size_t)size->segments;
    if (!step->to_scratch)
        memset(&engine->held[first], 0, (size_t)size->segments * sizeof *engine->held);
    return code;
}

static int start_message(coll_engine *engine, const coll_node *node) {
    const coll_step *step = &node->step;
    coll_comm *comm = engine->call.comm;
    int tag = engine->call.tag + step->lane, length = (int)step->length;
    void *bytes = message_buffer(engine, node);
    MPI_Request *request = &engine->task.requests[engine->task.active];
    return step->kind == COLL_STEP_SEND
               ? coll_isend(comm, bytes, length, MPI_BYTE, step->peer, tag, request)
               : coll_irecv(comm, bytes, length, MPI_BYTE, step->peer, tag, request);
}

/* Starts all steps that may start. */
static int start_ready_steps(coll_engine *engine) {
    int number, code = MPI_SUCCESS;
    const coll_node *node;
    while (code == MPI_SUCCESS && (node = coll_cursor_start(&engine->cursor, &number))) {
        if (!coll_step_is_message(&node->step)) {
            code = execute_local_step(engine, node);
            coll_cursor_complete(&engine->cursor, number);
            continue;
        }
        code = start_message(engine, node);
        if (code != MPI_SUCCESS)
            break;
        engine->task.peers[engine->task.active] = node->step.peer;
        engine->nodes[engine->task.active++] = number;
    }
    engine->task.count = engine->task.active;
    return code;
}

/* Completes a message; unpacks received data before its segment is used again. */
static void complete_message(coll_engine *engine, int number) {
    const coll_node *node = &engine->cursor.nodes[number];
    const coll_step *step = &node->step;
    if (step->kind == COLL_STEP_RECEIVE && step->buffer != COLL_SCRATCH && step->length) {
        coll_data block = block_of(engine, step, 0);
        if (!is_in_place(&block, step)) {
            move_bytes(engine, step, scratch_of(engine, node), true);
            engine->held[own_segment_index(engine, node)] = held_by(node);
        }
    }
    coll_cursor_complete(&engine->cursor, number);
}

static int handle_completions(coll_task *task, int count) {
    coll_engine *engine = (coll_engine *)task;
    for (int i = 0; i < count; i++)
        complete_message(engine, engine->nodes[task->indices[i]]);
    int kept = 0;
    for (int i = 0; i < task->active; i++) {
        if (task->requests[i] == MPI_REQUEST_NULL)
            continue;
        task->requests[kept] = task->requests[i];
        task->peers[kept] = task->peers[i];
        engine->nodes[kept++] = engine->nodes[i];
    }
    task->active = kept;
    return start_ready_steps(engine);
}

static int begin_engine(coll_task *task) {
    coll_engine *engine = (coll_engine *)task;
    const coll_plan_size *size = &engine->plan->size;
    coll_cursor_begin(&engine->cursor);
    memset(engine->held, 0, (size_t)size->window * (size_t)size->segments * sizeof *engine->held);
    return start_ready_steps(engine);
}

static const coll_planner *planner_of(const coll_exec_args *call) {
    return coll_planner_of(call->algorithm, call->args.values);
}

size_t coll_exec_args_bytes(const coll_exec_args *call) {
    if (!planner_of(call))
        return call->algorithm->bytes(call);
    coll_plan_size size = planner_of(call)->size(&call->args);
    size_t nodes = (size_t)size.window * (size_t)size.steps,
           segments = (size_t)size.window * (size_t)size.segments;
    return coll_scratch_bytes(sizeof(coll_engine)) +
           coll_scratch_bytes(size.own_bytes + size.making_bytes) + coll_cursor_bytes(&size) +
           coll_scratch_bytes(nodes * sizeof(MPI_Request)) +
           coll_scratch_bytes(nodes * sizeof(MPI_Status)) +
           3 * coll_scratch_bytes(nodes * sizeof(int)) +
           coll_scratch_bytes(segments * sizeof(coll_held)) +
           coll_scratch_bytes(segments * size.segment) +
           (call->reduction ? coll_reduction_spare(call->reduction) : 0);
}

coll_task *coll_exec_args_open(const coll_exec_args *call, void *memory) {
    if (!planner_of(call))
        return call->algorithm->open(call, memory);
    coll_plan_size size = planner_of(call)->size(&call->args);
    size_t nodes = (size_t)size.window * (size_t)size.steps,
           segments = (size_t)size.window * (size_t)size.segments;
    char *scratch = memory;
    coll_engine *engine = coll_scratch_alloc(&scratch, sizeof *engine);
    *engine = (coll_engine){
        .task = {.start = begin_engine, .handle_completed = handle_completions, .comm = call->comm},
        .call = *call};
    engine->plan = planner_of(call)->plan(
        &engine->call.args, size, coll_scratch_alloc(&scratch, size.own_bytes + size.making_bytes));
    coll_cursor_open(&engine->cursor, engine->plan,
                     coll_scratch_alloc(&scratch, coll_cursor_bytes(&size)));
    engine->task.requests = coll_scratch_alloc(&scratch, nodes * sizeof(MPI_Request));
    engine->task.statuses = coll_scratch_alloc(&scratch, nodes * sizeof(MPI_Status));
    engine->task.peers = coll_scratch_alloc(&scratch, nodes * sizeof(int));
    engine->nodes = coll_scratch_alloc(&scratch, nodes * sizeof(int));
    engine->task.indices = coll_scratch_alloc(&scratch, nodes * sizeof(int));
    engine->held = coll_scratch_alloc(&scratch, segments * sizeof(coll_held));
    engine->segments = coll_scratch_alloc(&scratch, segments * size.segment);
    engine->spare = scratch;
    return &engine->task;
}

int coll_exec_args_run(const coll_exec_args *call) {
    void *memory;
    if (!planner_of(call) && call->algorithm->run)
        return call->algorithm->run(call);
    int code = coll_comm_scratch(call->comm, coll_exec_args_bytes(call), &memory);
    return code == MPI_SUCCESS ? coll_task_run(coll_exec_args_open(call, memory)) : code;
}
