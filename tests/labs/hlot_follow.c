/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hlot_follow FILE BROADCASTS: broadcasts from rank 0 with hlot, each time other bytes, which all
 * ranks check. Whenever the tree changes it prints a line: the number of the broadcast, how many
 * broadcasts and seconds ago FILE appeared (-1 if it does not exist), and each site's parent. Ends
 * after BROADCASTS, or ten broadcasts after the tree has changed while FILE exists. For
 * tests/labs/hlot_lab.sh.
 */
#include "config.h"

#include "coll.h"
#include "hlot/site_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 5000, AFTER = 10, PAUSE = 20000 /* us */ };

static void fill(unsigned char *bytes, size_t count, unsigned number) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(number * 31 + i * 7);
}

/* The observations of rank 0 so far. */
typedef struct watch {
    const char *file;
    int parents[HLOT_SITES];
    long appeared; /* the number of the broadcast at which FILE appeared, or -1 */
    double since;
    long left;
} watch;

static void look(watch *w, const hlot_site_state *site_state, long number) {
    size_t size = (size_t)site_state->tree.sites * sizeof *w->parents;
    if (w->appeared < 0 && access(w->file, F_OK) == 0) {
        w->appeared = number;
        w->since = MPI_Wtime();
    }
    if (memcmp(w->parents, site_state->tree.parent, size) == 0)
        return;
    memcpy(w->parents, site_state->tree.parent, size);
    printf("broadcast %ld after %ld %.3f parents", number,
           w->appeared < 0 ? -1 : number - w->appeared,
           w->appeared < 0 ? -1 : MPI_Wtime() - w->since);
    for (int site = 0; site < site_state->tree.sites; site++)
        printf(" %d", w->parents[site]);
    putchar('\n');
    fflush(stdout);
    if (w->appeared >= 0 && w->left > AFTER)
        w->left = AFTER;
}

int main(int argc, char **argv) {
    int rank;
    unsigned char bytes[BYTES], expected[BYTES];
    coll_comm *state;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    watch w = {.file = argv[1], .appeared = -1, .left = atol(argv[2])};
    COLL_Set(MPI_COMM_WORLD, "bcast", "hlot");
    coll_comm_get(MPI_COMM_WORLD, &state);
    for (long number = 0; w.left > 0; number++) {
        fill(expected + sizeof w.left, BYTES - sizeof w.left, (unsigned)number);
        if (rank == 0) {
            usleep(PAUSE); /* otherwise rank 0 runs ahead of the others */
            w.left--;
            memcpy(bytes, expected, BYTES);
            memcpy(bytes, &w.left, sizeof w.left);
        }
        if (COLL_Bcast(bytes, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS ||
            memcmp(bytes + sizeof w.left, expected + sizeof w.left, BYTES - sizeof w.left) != 0) {
            fprintf(stderr, "rank %d: broadcast %ld is wrong\n", rank, number);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        memcpy(&w.left, bytes, sizeof w.left);
        hlot_site_state **site_state = coll_comm_slot(state, &hlot_site_state_key);
        if (rank == 0 && *site_state)
            look(&w, *site_state, number);
    }
    MPI_Finalize();
    return 0;
}
