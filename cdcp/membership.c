#include "config.h"

#include "cdcp/membership.h"

#include "cdcp/job.h"
#include "cdcp/operands.h"
#include "cdcp/wire.h"
#include "lib/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Guards the key, the list, the counter and the communicator looked at last. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID;
static coll_membership *all;
static uint32_t registered_here;
static coll_membership *recent; /* only where a single thread posts */

static void unlink_it(coll_membership *membership) {
    pthread_mutex_lock(&lock);
    *membership->link = membership->next;
    if (membership->next)
        membership->next->link = membership->link;
    if (recent == membership)
        recent = NULL;
    pthread_mutex_unlock(&lock);
}

static int tell_end(const coll_membership *membership) {
    const coll_job *job = &coll_the_job;
    coll_wire_header header = {.team = membership->number,
                               .kind = COLL_WIRE_FORGET,
                               .sequence = membership->sequence,
                               .rank = membership->rank};
    return PMPI_Send(&header, (int)sizeof header, MPI_BYTE, job->mapping.dcp_of[job->rank],
                     COLL_JOB_TAG_TO_DCP, job->wire);
}

void coll_membership_let_go(coll_membership *membership) {
    if (--membership->requests == 0 && membership->comm == MPI_COMM_NULL)
        free(membership);
}

/* The communicator goes. The DCP hears of it after all posts of this rank. */
static int forget(MPI_Comm comm, int which, void *value, void *extra) {
    (void)comm, (void)which, (void)extra;
    coll_membership *membership = value;
    int code = MPI_SUCCESS;
    if (coll_the_job.posts && membership->registered && membership->number != COLL_JOB_WORLD)
        code = tell_end(membership);
    unlink_it(membership);
    membership->comm = MPI_COMM_NULL;
    membership->requests++;
    coll_membership_let_go(membership);
    return code;
}

int coll_membership_end_all(void) {
    int code = MPI_SUCCESS;
    while (all && code == MPI_SUCCESS)
        code = PMPI_Comm_delete_attr(all->comm, key);
    if (code == MPI_SUCCESS && key != MPI_KEYVAL_INVALID)
        code = PMPI_Comm_free_keyval(&key);
    return code;
}

/* The ranks in the job of COMM's members; NULL where one isn't in the job, or without memory. */
static int *list_members(MPI_Comm comm, int *count) {
    MPI_Group group;
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return NULL;
    PMPI_Group_size(group, count);
    int *own = malloc((size_t)*count * sizeof *own),
        *members = malloc((size_t)*count * sizeof *own);
    bool good = own && members;
    for (int i = 0; good && i < *count; i++)
        own[i] = i;
    good = good && PMPI_Group_translate_ranks(group, *count, own, coll_the_job.group, members) ==
                       MPI_SUCCESS;
    for (int i = 0; good && i < *count; i++)
        good = members[i] != MPI_UNDEFINED;
    PMPI_Group_free(&group);
    free(own);
    if (!good) {
        free(members);
        return NULL;
    }
    return members;
}

/*
 * Intercommunicators and those with ranks of other jobs stand back; one rank alone has nothing to
 * reduce, but as the whole application it shows what a post costs.
 */
static bool is_served(MPI_Comm comm) {
    int inter = 0, count = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return false;
    int *members = list_members(comm, &count);
    bool served = members && (count > 1 || comm == coll_the_job.app);
    free(members);
    return served;
}

static int make_key(void) {
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (key == MPI_KEYVAL_INVALID)
        code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    pthread_mutex_unlock(&lock);
    return code;
}

static coll_membership *make(MPI_Comm comm) {
    coll_membership *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (coll_membership){.comm = comm,
                              .served = is_served(comm),
                              .registered = comm == coll_the_job.app,
                              .number = COLL_JOB_WORLD,
                              .type = MPI_DATATYPE_NULL,
                              .op = MPI_OP_NULL};
    if (PMPI_Comm_rank(comm, &made->rank) != MPI_SUCCESS ||
        PMPI_Comm_set_attr(comm, key, made) != MPI_SUCCESS) {
        free(made);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    made->next = all;
    made->link = &all;
    if (all)
        all->link = &made->next;
    all = made;
    pthread_mutex_unlock(&lock);
    return made;
}

coll_membership *coll_membership_of(MPI_Comm comm) {
    if (recent && recent->comm == comm)
        return recent;
    coll_membership *found = NULL;
    int there = 0;
    if (comm == MPI_COMM_NULL || make_key() != MPI_SUCCESS ||
        PMPI_Comm_get_attr(comm, key, &found, &there) != MPI_SUCCESS)
        return NULL;
    if (!there)
        found = make(comm);
    if (!coll_the_job.threaded)
        recent = found;
    return found;
}

void coll_membership_look_up(coll_membership *membership, MPI_Datatype type, MPI_Op op) {
    if (type == membership->type && op == membership->op)
        return;
    int code = coll_operands_code(type, op);
    membership->code = code;
    membership->extent = code < 0 ? 0 : coll_operands_extent(code);
    membership->most = code < 0 ? -1 : (MPI_Count)(coll_the_job.limit / membership->extent);
    membership->type = type;
    membership->op = op;
}

/* The DCP hears of the members from the first of those that it serves. */
static bool speaks_for_others(const int members[], int count) {
    const coll_job *job = &coll_the_job;
    const int *dcp_of = job->mapping.dcp_of;
    for (int i = 0; i < count; i++)
        if (dcp_of[members[i]] == dcp_of[job->rank])
            return members[i] == job->rank;
    return false;
}

/* In pieces that MPI libraries send at once. */
static int tell_members(const coll_membership *membership, const int members[], int count) {
    enum { PIECE = 512 };
    struct {
        coll_wire_header header;
        int32_t members[PIECE];
    } message;
    const coll_job *job = &coll_the_job;
    int code = MPI_SUCCESS;
    for (int first = 0; first < count && code == MPI_SUCCESS; first += PIECE) {
        int items = count - first < PIECE ? count - first : PIECE;
        message.header = (coll_wire_header){.team = membership->number,
                                            .kind = COLL_WIRE_MEMBERS,
                                            .count = count,
                                            .rank = membership->rank,
                                            .first = first,
                                            .items = items,
                                            .more = first + items < count};
        for (int i = 0; i < items; i++)
            message.members[i] = members[first + i];
        size_t bytes = sizeof message.header + (size_t)items * sizeof *message.members;
        code = PMPI_Send(&message, (int)bytes, MPI_BYTE, job->mapping.dcp_of[job->rank],
                         COLL_JOB_TAG_TO_DCP, job->wire);
    }
    return code;
}

/* Numbers are unique by who gives them, its rank in the job from 1, and its count. */
static int agree_on_number(coll_membership *membership) {
    if (membership->rank == 0) {
        pthread_mutex_lock(&lock);
        membership->number =
            ((uint64_t)coll_the_job.rank + 1) << 32 | (registered_here++ & UINT32_MAX);
        pthread_mutex_unlock(&lock);
    }
    return PMPI_Bcast(&membership->number, 1, MPI_UINT64_T, 0, membership->comm);
}

int coll_membership_register(coll_membership *membership) {
    if (membership->registered || !membership->served)
        return MPI_SUCCESS;
    int count, code = agree_on_number(membership);
    if (code != MPI_SUCCESS)
        return code;
    int *members = list_members(membership->comm, &count);
    if (!members)
        return coll_error(MPI_ERR_NO_MEM, "no memory to list the ranks of a communicator");
    if (speaks_for_others(members, count))
        code = tell_members(membership, members, count);
    free(members);
    membership->registered = code == MPI_SUCCESS;
    return code;
}
