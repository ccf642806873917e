/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/pmpi/nonblocking.h"

#include "cdcp/pmpi/collectives.h"
#include "cdcp/pmpi/world.h"
#include "cdcp/request_pool.h"
#include "lib/base/envelope.h"
#include "lib/base/error.h"
#include "lib/tuning/state.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * Addresses are reserved for this number of records. Memory is used only for as many as have been
 * in use at once.
 */
enum { MOST = 1 << 17 };

coll_dcp_range coll_nonblocking_arena;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_nonblocking *records, *unused;
static int used; /* number of records used so far */

static bool is_always_native(coll_operation operation, const coll_comm *own) {
    return coll_state_always_native(coll_state_of(own), operation);
}

bool coll_nonblocking_takes(coll_operation operation, MPI_Comm comm) {
    if (!coll_routed[operation] || comm == MPI_COMM_NULL)
        return false;
    const coll_comm *own = coll_comm_find(comm);
    return own && !is_always_native(operation, own);
}

bool coll_nonblocking_prepares(coll_operation operation, MPI_Comm comm) {
    if (!coll_routed[operation] || !coll_world_is_intra(comm))
        return false;
    const coll_comm *own = coll_comm_find(comm);
    return !own || !is_always_native(operation, own);
}

int coll_nonblocking_create(MPI_Op op, coll_nonblocking **made) {
    coll_nonblocking *record = NULL;
    pthread_mutex_lock(&lock);
    if (!records)
        records = coll_request_reserve(MOST * sizeof *records, &coll_nonblocking_arena);
    if (unused) {
        record = unused;
        unused = record->next;
    } else if (records && used < MOST) {
        record = &records[used++];
    }
    if (record) {
        record->op = op;
        record->operand = MPI_DATATYPE_NULL;
        record->op_freed = record->operand_freed = false;
    }
    pthread_mutex_unlock(&lock);
    *made = record;
    return record ? MPI_SUCCESS
                  : coll_error(MPI_ERR_NO_MEM, "no memory for a request, or %d are in use", MOST);
}

int coll_nonblocking_keep_type(coll_nonblocking *record, MPI_Datatype *type) {
    coll_envelope envelope;
    if (*type == MPI_DATATYPE_NULL)
        return MPI_SUCCESS; /* the call that gets the type reports the error */
    int code = coll_envelope_get(*type, &envelope);
    if (code != MPI_SUCCESS || envelope.combiner == MPI_COMBINER_NAMED)
        return code;
    if (record->op != MPI_OP_NULL) {
        pthread_mutex_lock(&lock);
        record->operand = *type;
        pthread_mutex_unlock(&lock);
        return MPI_SUCCESS;
    }
    const size_t count = (size_t)record->type_count;
    MPI_Datatype *kept = realloc(record->types, (count + 1) * sizeof *kept);
    if (!kept)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %zu datatypes", count + 1);
    record->types = kept;
    code = PMPI_Type_dup(*type, &kept[count]);
    if (code != MPI_SUCCESS)
        return code;
    record->type_count++;
    *type = kept[count];
    return MPI_SUCCESS;
}

/*
 * Return whether a record uses OP, or TYPE as its operand, and mark all records that do. The caller
 * holds the lock.
 */
static bool mark_op_freed(MPI_Op op) {
    bool found = false;
    for (int i = 0; i < used; i++)
        if (records[i].op == op)
            found = records[i].op_freed = true;
    return found;
}

static bool mark_operand_freed(MPI_Datatype type) {
    bool found = false;
    for (int i = 0; i < used; i++)
        if (records[i].operand == type)
            found = records[i].operand_freed = true;
    return found;
}

/*
 * As MPI requires, an operation and a datatype are freed only when the calls that use them are
 * complete.
 */
int MPI_Op_free(MPI_Op *op) {
    bool in_use = false;
    pthread_mutex_lock(&lock);
    if (op && *op != MPI_OP_NULL)
        in_use = mark_op_freed(*op);
    pthread_mutex_unlock(&lock);
    if (!in_use)
        return PMPI_Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype *type) {
    bool in_use = false;
    pthread_mutex_lock(&lock);
    if (type && *type != MPI_DATATYPE_NULL)
        in_use = mark_operand_freed(*type);
    pthread_mutex_unlock(&lock);
    if (!in_use)
        return PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

void coll_nonblocking_free(coll_nonblocking *record) {
    while (record->type_count > 0)
        (void)PMPI_Type_free(&record->types[--record->type_count]);
    free(record->types);
    record->types = NULL;
    for (int i = 0; i < 2; i++) {
        free(record->counts[i]);
        record->counts[i] = NULL;
    }
    pthread_mutex_lock(&lock);
    MPI_Op op = record->op;
    MPI_Datatype operand = record->operand;
    record->request = NULL;
    record->op = MPI_OP_NULL;
    record->operand = MPI_DATATYPE_NULL;
    record->next = unused;
    unused = record;
    bool last_of_op = record->op_freed && !mark_op_freed(op),
         last_of_operand = record->operand_freed && !mark_operand_freed(operand);
    pthread_mutex_unlock(&lock);
    if (last_of_op)
        (void)PMPI_Op_free(&op);
    if (last_of_operand)
        (void)PMPI_Type_free(&operand);
}

MPI_Comm coll_nonblocking_comm(const coll_nonblocking *record) {
    const coll_request *request = record->request;
    return request->comm ? request->user : coll_dcp_comm(MPI_COMM_WORLD);
}

int coll_nonblocking_complete(coll_nonblocking *record, MPI_Comm *comm) {
    coll_request *request = record->request;
    *comm = coll_nonblocking_comm(record);
    coll_request_wait(request);
    int code = coll_request_end(request);
    if (!request->persistent) {
        coll_request_free(request);
        coll_nonblocking_free(record);
    }
    return code;
}
