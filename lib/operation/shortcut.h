/*
 * The short way to the MPI library's own collective, for small calls that end there anyway: by the
 * usual way the arguments' description, the choice and the trace would take longer than the
 * collective itself. It sends the same messages, so that one rank may take it and another not.
 */
#ifndef COLL_LIB_OPERATION_SHORTCUT_H
#define COLL_LIB_OPERATION_SHORTCUT_H

#include "lib/base/comm.h"
#include "lib/base/data.h"

#include <mpi.h>
#include <stdbool.h>

/* Remembers TYPE, which describes DATA, where it is one that the short way can take. */
void coll_shortcut_learn(const coll_comm *comm, MPI_Datatype type, const coll_data *data);

/*
 * The arguments are those of COLL_Bcast and COLL_Gather, not checked yet. True where the call is
 * done: *CODE is its result, raised where it is an error. False where it needs the usual way.
 */
bool coll_shortcut_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                         int *code);
bool coll_shortcut_gather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                          void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                          int root, MPI_Comm comm, int *code);

#endif
