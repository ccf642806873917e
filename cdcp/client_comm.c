/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/client_comm.h"

#include "cdcp/job.h"
#include "cdcp/operands.h"
#include "cdcp/wire.h"
#include "lib/base/comm.h"
#include "lib/base/error.h"

#include <stdlib.h>

/* Lists of members are sent to the DCPs in pieces that fit into an eager message. */
enum { PIECE = 512 };

/* The job's lock guards these variables, except the key, which doesn't change. */
static int key = MPI_KEYVAL_INVALID;
static coll_client_comm *all;
static uint32_t numbers_given;
/* The entry looked up last; stays NULL if several threads may post. */
static coll_client_comm *recent;

static void link_entry(coll_client_comm *client_comm) {
    coll_job_enter();
    client_comm->next = all;
    client_comm->link = &all;
    if (all)
        all->link = &client_comm->next;
    all = client_comm;
    coll_job_leave();
}

static void unlink_entry(coll_client_comm *client_comm) {
    *client_comm->link = client_comm->next;
    if (client_comm->next)
        client_comm->next->link = client_comm->link;
}

/*
 * Tells the DCP how many posts this rank has made. The DCP may read this message before the last
 * posts in the mailbox.
 */
int coll_client_series_end(const coll_client_series *series) {
    if (!coll_the_job.posts || series->number == COLL_JOB_WORLD)
        return MPI_SUCCESS;
    coll_wire_header header = {
        .comm = series->number, .kind = COLL_WIRE_FORGET, .sequence = series->sequence};
    return coll_job_tell(&header, sizeof header);
}

/* Ends the entry of a communicator that is freed, and removes it from the list. */
static int end_entry(coll_attribute *attribute) {
    coll_client_comm *client_comm = (coll_client_comm *)attribute;
    if (recent == client_comm)
        recent = NULL;
    int code = coll_client_series_end(&client_comm->series);
    coll_job_enter();
    unlink_entry(client_comm);
    client_comm->comm = MPI_COMM_NULL;
    if (client_comm->requests > 0)
        atomic_fetch_add(&attribute->holders, 1);
    coll_job_leave();
    return code;
}

static void free_entry(coll_attribute *attribute) {
    free(attribute);
}

int coll_client_comm_free_by(int (*mpi_free)(MPI_Comm *), MPI_Comm *comm) {
    const MPI_Comm freed = comm ? *comm : MPI_COMM_NULL;
    coll_attribute *const attributes[] = {coll_comm_attribute(freed),
                                          (coll_attribute *)coll_client_comm_of(freed)};
    return coll_attribute_free_comm(mpi_free, comm, 2, attributes);
}

int coll_client_comm_end_all(void) {
    int code = MPI_SUCCESS;
    while (all && code == MPI_SUCCESS)
        code = PMPI_Comm_delete_attr(all->comm, key);
    if (code == MPI_SUCCESS && key != MPI_KEYVAL_INVALID)
        code = PMPI_Comm_free_keyval(&key);
    return code;
}

/*
 * Attaches a new entry to COMM, which DCPs don't serve yet. Returns NULL on an error, such as too
 * little memory.
 */
static coll_client_comm *attach(MPI_Comm comm) {
    coll_client_comm *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (coll_client_comm){.attribute = {.end = end_entry, .destroy = free_entry, .holders = 1},
                               .comm = comm,
                               .type = MPI_DATATYPE_NULL,
                               .op = MPI_OP_NULL,
                               .code = -1,
                               .most = -1};
    if (PMPI_Comm_rank(comm, &made->rank) != MPI_SUCCESS ||
        PMPI_Comm_size(comm, &made->ranks) != MPI_SUCCESS ||
        PMPI_Comm_set_attr(comm, key, made) != MPI_SUCCESS) {
        free(made);
        return NULL;
    }
    link_entry(made);
    return made;
}

int coll_client_comm_begin(void) {
    int code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, coll_attribute_delete, &key, NULL);
    if (code != MPI_SUCCESS)
        return code;
    coll_client_comm *world = attach(coll_the_job.app);
    if (!world)
        return coll_error(MPI_ERR_NO_MEM, "no memory for a communicator");
    world->series.number = COLL_JOB_WORLD;
    world->served = true;
    return MPI_SUCCESS;
}

static coll_client_comm *find_attribute(MPI_Comm comm) {
    coll_client_comm *found = NULL;
    int there = 0;
    if (!coll_the_job.posts || comm == MPI_COMM_NULL ||
        PMPI_Comm_get_attr(comm, key, &found, &there) != MPI_SUCCESS || !there)
        return NULL;
    if (!coll_the_job.threaded)
        recent = found;
    return found;
}

coll_client_comm *coll_client_comm_of(MPI_Comm comm) {
    return recent && recent->comm == comm ? recent : find_attribute(comm);
}

coll_client_comm *coll_client_comm_served(MPI_Comm comm) {
    coll_client_comm *client_comm = coll_client_comm_of(comm);
    return client_comm && client_comm->served ? client_comm : NULL;
}

static bool has_looked_up(const coll_client_comm *client_comm, MPI_Datatype type, MPI_Op op) {
    return client_comm->type == type && client_comm->op == op;
}

static void look_up_operands(coll_client_comm *client_comm, MPI_Datatype type, MPI_Op op) {
    int code = coll_operands_code(type, op);
    client_comm->code = code;
    client_comm->extent = code < 0 ? 0 : coll_operands_extent(code);
    client_comm->most = code < 0 ? -1 : (MPI_Count)(coll_the_job.limit / client_comm->extent);
    client_comm->type = type;
    client_comm->op = op;
}

COLL_ASIDE static coll_client_comm *look_up_reducing(MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    coll_client_comm *client_comm = coll_client_comm_served(comm);
    if (client_comm && !has_looked_up(client_comm, type, op))
        look_up_operands(client_comm, type, op);
    return client_comm;
}

coll_client_comm *coll_client_comm_reducing(MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    bool as_before = recent && recent->comm == comm && has_looked_up(recent, type, op);
    return as_before ? recent : look_up_reducing(type, op, comm);
}

/* The members of a communicator; the first three fields are the same on all members. */
typedef struct roster {
    MPI_Group group;
    int count;
    bool eligible; /* DCPs may serve the communicator */
    bool speaks;   /* this rank is the first member that its DCP serves, and sends the DCP the
                      list of members */
} roster;

/*
 * Sets IN_JOB to the job ranks of the members from number FIRST on, at most PIECE of them, and
 * *ITEMS to how many these are.
 */
static int translate_piece(const roster *members, int first, int in_job[PIECE], int *items) {
    int own[PIECE];
    *items = members->count - first < PIECE ? members->count - first : PIECE;
    for (int i = 0; i < *items; i++)
        own[i] = first + i;
    return PMPI_Group_translate_ranks(members->group, *items, own, coll_the_job.group, in_job);
}

static int examine_members(roster *members) {
    const coll_job *job = &coll_the_job;
    const int *dcp_of = job->mapping.dcp_of;
    int in_job[PIECE], items, speaker = MPI_UNDEFINED;
    int code = PMPI_Group_size(members->group, &members->count);
    members->eligible = members->count > 1;
    for (int first = 0; first < members->count && code == MPI_SUCCESS; first += PIECE) {
        code = translate_piece(members, first, in_job, &items);
        for (int i = 0; i < items && code == MPI_SUCCESS; i++) {
            int rank = in_job[i];
            bool known = rank != MPI_UNDEFINED && dcp_of[rank] >= 0;
            members->eligible = members->eligible && known;
            if (known && speaker == MPI_UNDEFINED && dcp_of[rank] == dcp_of[job->rank])
                speaker = rank;
        }
    }
    members->speaks = speaker == job->rank;
    return code;
}

static int tell_members(uint64_t number, const roster *members) {
    struct {
        coll_wire_header header;
        int32_t members[PIECE];
    } message;
    int items, code = MPI_SUCCESS;
    for (int first = 0; first < members->count && code == MPI_SUCCESS; first += items) {
        code = translate_piece(members, first, message.members, &items);
        if (code != MPI_SUCCESS)
            return code;
        message.header = (coll_wire_header){.comm = number,
                                            .kind = COLL_WIRE_MEMBERS,
                                            .count = members->count,
                                            .first = first,
                                            .items = items,
                                            .more = first + items < members->count};
        code = coll_job_tell(&message,
                             sizeof message.header + (size_t)items * sizeof *message.members);
    }
    return code;
}

/*
 * Returns a unique number: its upper half is this process's rank in the job plus 1, its lower half
 * counts the numbers that this process has given.
 */
static uint64_t give_number(void) {
    coll_job_enter();
    uint64_t number = ((uint64_t)coll_the_job.rank + 1) << 32 | numbers_given++;
    coll_job_leave();
    return number;
}

/*
 * Lets COMM's first rank choose a number, and sends it to all ranks. Sets *FAILED to whether
 * CLIENT_COMM is NULL on a rank.
 */
static int agree_on_number(MPI_Comm comm, const coll_client_comm *client_comm, uint64_t *number,
                           bool *failed) {
    enum { NUMBER, FAILED, WORDS };
    uint64_t words[WORDS] = {[FAILED] = !client_comm};
    if (client_comm && client_comm->rank == 0)
        words[NUMBER] = give_number();
    int code = PMPI_Allreduce(MPI_IN_PLACE, words, WORDS, MPI_UINT64_T, MPI_MAX, comm);
    *number = words[NUMBER];
    *failed = words[FAILED];
    return code;
}

/*
 * Agrees with COMM's other ranks on a number, and tells it and the members to the DCP. Sets *NUMBER
 * to COLL_JOB_WORLD if DCPs can't serve COMM. Sets *FAILED to whether CLIENT_COMM is NULL on a
 * rank; then the DCP isn't told.
 */
static int register_members(MPI_Comm comm, const coll_client_comm *client_comm, uint64_t *number,
                            bool *failed) {
    roster members;
    *number = COLL_JOB_WORLD;
    *failed = false;
    int code = PMPI_Comm_group(comm, &members.group);
    if (code != MPI_SUCCESS)
        return code;
    code = examine_members(&members);
    if (code == MPI_SUCCESS && members.eligible)
        code = agree_on_number(comm, client_comm, number, failed);
    if (code == MPI_SUCCESS && members.eligible && !*failed && members.speaks)
        code = tell_members(*number, &members);
    PMPI_Group_free(&members.group);
    return code;
}

int coll_client_comm_make(MPI_Comm comm) {
    coll_client_comm *client_comm = attach(comm);
    uint64_t number;
    bool failed;
    int inter = 0, code = PMPI_Comm_test_inter(comm, &inter);
    if (code != MPI_SUCCESS || inter)
        return code;
    code = register_members(comm, client_comm, &number, &failed);
    if (code != MPI_SUCCESS || !client_comm)
        return code;
    if (failed)
        return PMPI_Comm_delete_attr(comm, key);
    client_comm->series.number = number;
    client_comm->served = number != COLL_JOB_WORLD;
    return MPI_SUCCESS;
}

int coll_client_series_begin(const coll_client_comm *client_comm, bool ready,
                             coll_client_series *series, bool *failed) {
    *series = (coll_client_series){0};
    return register_members(client_comm->comm, ready ? client_comm : NULL, &series->number, failed);
}
