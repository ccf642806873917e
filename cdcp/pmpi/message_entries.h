/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of cdcp/pmpi/messages.c, which includes this file once for MPI_X, with COUNT as
 * int, and once for MPI_X_c, with COUNT as MPI_Count. FORM appends _c to a name in the second case.
 */

#define SEND(name, iname)                                                                          \
    coll_report_sent(count, type, to, comm);                                                       \
    PASS(FORM(P##name)(buffer, count, type, to, tag, comm),                                        \
         FORM(P##iname)(buffer, count, type, to, tag, comm, &request), MPI_STATUS_IGNORE)

int FORM(MPI_Send)(const void *buffer, COUNT count, MPI_Datatype type, int to, int tag,
                   MPI_Comm comm) {
    SEND(MPI_Send, MPI_Isend);
}

int FORM(MPI_Ssend)(const void *buffer, COUNT count, MPI_Datatype type, int to, int tag,
                    MPI_Comm comm) {
    SEND(MPI_Ssend, MPI_Issend);
}

int FORM(MPI_Rsend)(const void *buffer, COUNT count, MPI_Datatype type, int to, int tag,
                    MPI_Comm comm) {
    SEND(MPI_Rsend, MPI_Irsend);
}

int FORM(MPI_Recv)(void *buffer, COUNT count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Status *status) {
    PASS(FORM(PMPI_Recv)(buffer, count, type, from, tag, comm, status),
         FORM(PMPI_Irecv)(buffer, count, type, from, tag, comm, &request), status);
}

/*
 * Sends and receives, and waits for both messages even if one of them fails. Sets STATUS for the
 * receive.
 */
static int FORM(exchange)(const void *send, COUNT send_count, MPI_Datatype send_type, int to,
                          int send_tag, void *receive, COUNT receive_count,
                          MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                          MPI_Status *status) {
    MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
    int code =
        FORM(PMPI_Irecv)(receive, receive_count, receive_type, from, receive_tag, comm, &received);
    if (code != MPI_SUCCESS)
        return code;
    code = FORM(PMPI_Isend)(send, send_count, send_type, to, send_tag, comm, &sent);
    if (code != MPI_SUCCESS) {
        coll_wait_abandon(1, &received);
        return code;
    }
    code = coll_requests_wait_for(&received, status);
    int other = coll_requests_wait_for(&sent, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? other : code;
}

int FORM(MPI_Sendrecv)(const void *send, COUNT send_count, MPI_Datatype send_type, int to,
                       int send_tag, void *receive, COUNT receive_count, MPI_Datatype receive_type,
                       int from, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    coll_report_sent(send_count, send_type, to, comm);
    PASS_OR(FORM(PMPI_Sendrecv)(send, send_count, send_type, to, send_tag, receive, receive_count,
                                receive_type, from, receive_tag, comm, status),
            FORM(exchange)(send, send_count, send_type, to, send_tag, receive, receive_count,
                           receive_type, from, receive_tag, comm, status));
}

/* Sends a packed copy, and receives into the buffer. */
static int FORM(replace)(void *buffer, COUNT count, MPI_Datatype type, int to, int send_tag,
                         int from, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request sent = MPI_REQUEST_NULL;
    COUNT bytes = 0, packed = 0;
    MPI_Count size = 0;
    int code = PMPI_Type_size_x(type, &size);
    /*
     * The size of the copy doesn't fit into an int. libcoll's collectives don't progress during
     * this call.
     */
    if (code == MPI_SUCCESS && sizeof(COUNT) == sizeof(int) && size * count > INT_MAX)
        return FORM(PMPI_Sendrecv_replace)(buffer, count, type, to, send_tag, from, receive_tag,
                                           comm, status);
    if (code == MPI_SUCCESS)
        code = FORM(PMPI_Pack_size)(count, type, comm, &bytes);
    if (code != MPI_SUCCESS)
        return code;
    void *copy = malloc((size_t)bytes + 1);
    if (!copy)
        return coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for %lld bytes to be sent",
                                           (long long)bytes));
    code = FORM(PMPI_Pack)(buffer, count, type, copy, bytes, &packed, comm);
    if (code == MPI_SUCCESS)
        code = FORM(PMPI_Isend)(copy, packed, MPI_PACKED, to, send_tag, comm, &sent);
    if (code != MPI_SUCCESS) {
        free(copy);
        return code;
    }
    MPI_Request received = MPI_REQUEST_NULL;
    code = FORM(PMPI_Irecv)(buffer, count, type, from, receive_tag, comm, &received);
    if (code == MPI_SUCCESS)
        code = coll_requests_wait_for(&received, status);
    int other = coll_requests_wait_for(&sent, MPI_STATUS_IGNORE);
    free(copy);
    return code == MPI_SUCCESS ? other : code;
}

int FORM(MPI_Sendrecv_replace)(void *buffer, COUNT count, MPI_Datatype type, int to, int send_tag,
                               int from, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    coll_report_sent(count, type, to, comm);
    PASS_OR(FORM(PMPI_Sendrecv_replace)(buffer, count, type, to, send_tag, from, receive_tag, comm,
                                        status),
            FORM(replace)(buffer, count, type, to, send_tag, from, receive_tag, comm, status));
}

int FORM(MPI_Mrecv)(void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message,
                    MPI_Status *status) {
    MPI_Comm comm = MPI_COMM_NULL; /* MESSAGE determines the communicator */
    PASS(FORM(PMPI_Mrecv)(buffer, count, type, message, status),
         FORM(PMPI_Imrecv)(buffer, count, type, message, &request), status);
}
