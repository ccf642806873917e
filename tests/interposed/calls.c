/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes all calls of MPI that take or return MPI_COMM_WORLD. Every rank prints what it saw, which
 * is the same with and without dedicated processors.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Prints a line of this rank. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    printf("%d: %s\n", rank, line);
}

static const char *name_of(MPI_Comm comm) {
    return comm == MPI_COMM_WORLD ? "world" : comm == MPI_COMM_SELF ? "self" : "other";
}

/* Prints a communicator's size, rank, name and attributes, and a sum over it. */
static void describe(const char *what, MPI_Comm comm) {
    int size, me, length, sum;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_get_name(comm, name, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    say("%s: rank %d of %d, name '%s', sum %d", what, me, size, name, sum);
    static const struct {
        const char *name;
        int keyval;
    } keys[] = {{"tag_ub", MPI_TAG_UB}, {"host", MPI_HOST},
                {"io", MPI_IO},         {"wtime", MPI_WTIME_IS_GLOBAL},
                {"appnum", MPI_APPNUM}, {"lastusedcode", MPI_LASTUSEDCODE}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int *value = NULL, flag;
        MPI_Comm_get_attr(comm, keys[i].keyval, &value, &flag);
        say("%s: %s %d", what, keys[i].name, flag ? *value : -999);
    }
}

static void communicators(void) {
    MPI_Comm dup, again, split, node, created, grouped, back;
    MPI_Group all, some, both;
    int result, reversed = ranks - rank;
    describe("world", MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    describe("dup", dup);
    MPI_Comm_dup(dup, &again);
    describe("dup of dup", again);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, reversed, &split);
    describe("split", split);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    describe("node", node);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    say("world is itself %d", result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
    say("world and dup congruent %d", result == MPI_CONGRUENT);

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(all, &result);
    say("group of %d", result);
    int last = ranks - 1, translated;
    MPI_Group_excl(all, 1, &last, &some);
    MPI_Group_union(all, some, &both);
    MPI_Group_compare(all, both, &result);
    say("union is all %d", result == MPI_IDENT);
    MPI_Group_translate_ranks(all, 1, &last, some, &translated);
    say("last is gone %d", translated == MPI_UNDEFINED);
    MPI_Comm_create(MPI_COMM_WORLD, some, &created);
    if (created != MPI_COMM_NULL)
        describe("create", created);
    if (rank < last) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &grouped);
        describe("create_group", grouped);
        MPI_Comm_free(&grouped);
    }
#if defined MPI_ABI_VERSION && MPI_ABI_VERSION > 0 /* the MPI ABI has no Fortran */
    back = MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD));
#else
    back = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
#endif
    say("f2c of c2f is %s", name_of(back));
    MPI_Comm_set_name(MPI_COMM_WORLD, "mine");
    describe("named", MPI_COMM_WORLD);
    if (created != MPI_COMM_NULL)
        MPI_Comm_free(&created);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    MPI_Group_free(&both);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&again);
    MPI_Comm_free(&split);
    MPI_Comm_free(&node);
}

static int copied(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)keyval;
    say("copies %s of %s", (char *)extra, name_of(comm));
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval;
    int sum = 0, one = 1;
    /* In MPI_Finalize MPI still works in the callbacks of MPI_COMM_SELF. */
    if (comm == MPI_COMM_SELF)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("deletes %s, %s of %s, sum %d", (char *)value, (char *)extra, name_of(comm), sum);
    return MPI_SUCCESS;
}

static void attributes(void) {
    static char extra[] = "extra", value[] = "value";
    int keyval, flag;
    char *found;
    MPI_Comm dup;
    MPI_Comm_create_keyval(copied, deleted, &keyval, extra);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, keyval, &found, &flag);
    say("attribute of dup %s", flag ? found : "none");
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag);
    say("attribute of world %d", flag);
    MPI_Comm_free_keyval(&keyval);
}

static void handle(MPI_Comm *comm, int *code, ...) {
    int class;
    MPI_Error_class(*code, &class);
    say("error of class %d on %s", class, name_of(*comm));
}

static void errors(void) {
    MPI_Errhandler handler, found;
    int number = 0;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    say("handler is back %d", found == handler);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_ARG);
    MPI_Send(&number, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD); /* this rank does not exist */
    MPI_Comm_rank(MPI_COMM_NULL, &number); /* this error is raised on MPI_COMM_WORLD */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say("returns %d", MPI_Bcast(&number, 1, MPI_INT, ranks, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&found);
}

static void topologies(void) {
    MPI_Comm grid, row, graph;
    int dims[2] = {ranks, 1}, periods[2] = {1, 0}, remain[2] = {0, 1}, coordinates[2];
    int from, to, count, weighted;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    MPI_Cart_coords(grid, rank, 2, coordinates);
    say("grid: at %d between %d and %d", *coordinates, from, to);
    describe("grid", grid);
    MPI_Cart_sub(grid, remain, &row);
    describe("row", row);
    int next[1] = {(rank + 1) % ranks}, one[1] = {1};
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, one, next, one, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &from, &to, &weighted);
    int received = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &received, 1, MPI_INT, graph);
    say("graph: %d in, %d out, got %d", from, to, received);
    MPI_Topo_test(MPI_COMM_WORLD, &count);
    say("world has no topology %d", count == MPI_UNDEFINED);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&row);
    MPI_Comm_free(&graph);
}

static void intercommunicators(void) {
    MPI_Comm half, inter, merged;
    if (ranks < 2)
        return;
    int upper = rank >= ranks / 2, size, sum;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : ranks / 2, 3, &inter);
    MPI_Comm_remote_size(inter, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    say("over there are %d, their sum is %d", size, sum);
    MPI_Intercomm_merge(inter, upper, &merged);
    describe("merged", merged);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&merged);
}

/* The communicator of a pending message is freed; MPICH deletes it when the message arrives. */
static void free_before_message(void) {
    enum { TAG = 7 };
    int received = -1, sum = 0;
    MPI_Comm dup;
    MPI_Request request = MPI_REQUEST_NULL;
    if (ranks < 2)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup);
    if (rank == ranks - 1) {
        MPI_Irecv(&received, 1, MPI_INT, 0, TAG, dup, &request);
        MPI_Comm_free(&dup);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(&ranks, 1, MPI_INT, ranks - 1, TAG, dup);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == ranks - 1)
        say("after its communicator was freed came %d, the sum was %d", received, sum);
    else
        MPI_Comm_free(&dup);
}

static void windows(void) {
    MPI_Win window;
    MPI_Group group;
    int *memory, size;
    enum { BYTES = 64 }; /* with 4 bytes, MPICH 4.0 confuses the memory of ranks */
    MPI_Win_allocate(BYTES, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_get_group(window, &group);
    MPI_Group_size(group, &size);
    *memory = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    say("window of %d holds %d", size, *memory);
    MPI_Group_free(&group);
    MPI_Win_free(&window);
}

static void files(const char *path) {
    MPI_File file;
    int read = -1;
    MPI_Offset size;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (ranks - 1 - rank) * (MPI_Offset)sizeof rank, &read, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &size);
    say("file of %lld bytes, read %d", (long long)size, read);
    MPI_File_close(&file);
}

static void messages(void) {
    int from = -1, flag, right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Status status;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    say("from %d came %d", status.MPI_SOURCE, from);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    say("nothing more %d", !flag);
    MPI_Bcast(&from, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    say("of the last came %d", from);
    int *all = malloc((size_t)ranks * sizeof *all);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    for (int i = 0; rank == ranks - 1 && i < ranks; i++)
        say("gathered %d", all[i]);
    free(all);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    say("rank of %d, threads %d", ranks, provided == MPI_THREAD_MULTIPLE);
    MPI_Pcontrol(1);
    communicators();
    attributes();
    errors();
    topologies();
    intercommunicators();
    windows();
    files(argc > 1 ? argv[1] : "calls.data");
    messages();
    free_before_message();
    MPI_Finalize();
    return 0;
}
