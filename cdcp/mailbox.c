/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/mailbox.h"

#include "cdcp/wire.h"
#include "lib/base/agree.h"

/*
 * A rank's part of the window begins with the rank's wake-up. The part is one cache line longer,
 * because MPI does not define the alignment of parts.
 */
enum { WAKEUP_BYTES = 2 * COLL_MAILBOX_LINE };
_Static_assert(sizeof(coll_wakeup) <= COLL_MAILBOX_LINE, "a wake-up fits a line");

static size_t in_lines(size_t bytes) {
    const size_t line = COLL_MAILBOX_LINE;
    return (bytes + line - 1) / line * line;
}

static size_t stride_for(size_t limit) {
    return in_lines(offsetof(coll_mailbox_slot, data) +
                    (limit > COLL_WIRE_TEXT ? limit : COLL_WIRE_TEXT));
}

static void initialise_slots(char *slots, size_t stride) {
    const coll_mailbox box = {.slots = slots, .stride = stride};
    for (uint32_t i = 0; i < COLL_MAILBOX_SLOTS; i++)
        atomic_init(&coll_mailbox_slot_at(&box, i)->state, COLL_MAILBOX_FREE);
}

/*
 * Agrees on whether all ranks of the node have the window. If not, the ranks that have the window
 * free it.
 */
static int agree_on_window(coll_mailboxes *boxes, bool good) {
    bool all;
    int code = coll_agree_good(boxes->node, good, &all);
    if (code == MPI_SUCCESS && good && !all)
        code = PMPI_Win_free(&boxes->window);
    if (!all)
        boxes->window = MPI_WIN_NULL;
    return code;
}

int coll_mailboxes_make(coll_mailboxes *boxes, MPI_Comm job, const coll_mapping *mapping,
                        const int node_of[], size_t limit, size_t blocks) {
    int rank;
    *boxes = (coll_mailboxes){.node = MPI_COMM_NULL,
                              .window = MPI_WIN_NULL,
                              .stride = stride_for(limit),
                              .large_slot_bytes = in_lines(blocks)};
    int code = PMPI_Comm_rank(job, &rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_split(job, node_of[rank], rank, &boxes->node);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(boxes->node, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS)
        return code;

    int dcp = mapping->dcp_of[rank];
    bool has_box = dcp >= 0 && node_of[dcp] == node_of[rank];
    size_t needed =
        COLL_MAILBOX_SLOTS * boxes->stride + COLL_MAILBOX_LARGE_SLOTS * boxes->large_slot_bytes;
    size_t bytes = WAKEUP_BYTES + (has_box ? needed : 0);
    void *base;
    code = PMPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, boxes->node, &base,
                                    &boxes->window);
    code = agree_on_window(boxes, code == MPI_SUCCESS);
    if (code != MPI_SUCCESS || boxes->window == MPI_WIN_NULL)
        return code;
    coll_mailbox own;
    code = coll_mailbox_open(boxes, job, rank, &own);
    if (code == MPI_SUCCESS && own.slots)
        initialise_slots(own.slots, own.stride);
    if (code == MPI_SUCCESS) {
        *own.wakeup = (coll_wakeup){.name = ""};
        coll_wakeup_install(own.wakeup);
    }
    return code == MPI_SUCCESS ? PMPI_Barrier(boxes->node) : code;
}

int coll_mailboxes_free(coll_mailboxes *boxes) {
    int code = MPI_SUCCESS;
    coll_wakeup_install(NULL);
    if (boxes->window != MPI_WIN_NULL)
        code = PMPI_Win_free(&boxes->window);
    if (code == MPI_SUCCESS && boxes->node != MPI_COMM_NULL)
        code = PMPI_Comm_free(&boxes->node);
    return code;
}

/*
 * Sets *FOUND to the rank in the node's communicator of the process that is RANK in JOB, or to
 * MPI_UNDEFINED if the process is on another node.
 */
static int find_on_node(const coll_mailboxes *boxes, MPI_Comm job, int rank, int *found) {
    MPI_Group of_job, of_node;
    int code = PMPI_Comm_group(job, &of_job);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Comm_group(boxes->node, &of_node);
    if (code == MPI_SUCCESS) {
        code = PMPI_Group_translate_ranks(of_job, 1, &rank, of_node, found);
        PMPI_Group_free(&of_node);
    }
    PMPI_Group_free(&of_job);
    return code;
}

int coll_mailbox_open(const coll_mailboxes *boxes, MPI_Comm job, int rank, coll_mailbox *box) {
    *box = (coll_mailbox){
        .stride = boxes->stride, .large_slot_bytes = boxes->large_slot_bytes, .ticket = 1};
    if (boxes->window == MPI_WIN_NULL)
        return MPI_SUCCESS;
    int on_node;
    int code = find_on_node(boxes, job, rank, &on_node);
    if (code != MPI_SUCCESS || on_node == MPI_UNDEFINED)
        return code;
    MPI_Aint bytes;
    int unit;
    char *base;
    code = PMPI_Win_shared_query(boxes->window, on_node, &bytes, &unit, &base);
    if (code != MPI_SUCCESS)
        return code;
    char *line =
        base + (COLL_MAILBOX_LINE - (uintptr_t)base % COLL_MAILBOX_LINE) % COLL_MAILBOX_LINE;
    box->wakeup = (coll_wakeup *)(void *)line;
    if (bytes <= WAKEUP_BYTES)
        return MPI_SUCCESS;
    box->slots = line + COLL_MAILBOX_LINE;
    box->large_slots = box->slots + COLL_MAILBOX_SLOTS * box->stride;
    return MPI_SUCCESS;
}
