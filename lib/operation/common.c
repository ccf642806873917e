#include "config.h"

#include "lib/operation/common.h"

#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/operation/choices.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct coll_common {
    int64_t id; /* the same on all its ranks, and no other's; 0: others can't take part in it */
    int users;  /* communicators */
    char *topology, *source;
    coll_topo topo;
    coll_profile profile;
    coll_choices choices;
    int *ranks; /* of the ranks of MPI_COMM_WORLD; -1 where they are none of its */
    struct coll_common *next;
};

/* What this process has, the largest first. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_common *known;

/* The ranks of COMM in MPI_COMM_WORLD, MPI_UNDEFINED where they are in another world; *WORLD: how
 * many that has. */
static int find_world_ranks(const coll_comm *comm, int own[], int in_world[], int *world) {
    MPI_Group group = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    for (int rank = 0; rank < comm->ranks; rank++)
        own[rank] = rank;
    int code = PMPI_Comm_group(comm->private, &group);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_group(MPI_COMM_WORLD, &all);
    if (code == MPI_SUCCESS)
        code = PMPI_Group_size(all, world);
    if (code == MPI_SUCCESS)
        code = PMPI_Group_translate_ranks(group, comm->ranks, own, all, in_world);
    if (all != MPI_GROUP_NULL)
        PMPI_Group_free(&all);
    if (group != MPI_GROUP_NULL)
        PMPI_Group_free(&group);
    return code;
}

static void free_common(coll_common *common) {
    coll_topo_free(&common->topo);
    coll_profile_free(&common->profile);
    coll_choices_free(&common->choices);
    free(common->topology);
    free(common->source);
    free(common->ranks);
    free(common);
}

/* Frees what nobody uses, but for the largest. The caller holds the lock. */
static void prune(void) {
    for (coll_common **link = known ? &known->next : &known; *link;) {
        coll_common *common = *link;
        if (common->users > 0) {
            link = &common->next;
        } else {
            *link = common->next;
            free_common(common);
        }
    }
}

static void insert(coll_common *common) {
    coll_common **link = &known;
    pthread_mutex_lock(&lock);
    while (*link && (*link)->topo.ranks >= common->topo.ranks)
        link = &(*link)->next;
    common->next = *link;
    *link = common;
    prune();
    pthread_mutex_unlock(&lock);
}

void coll_common_release(coll_common *common) {
    if (!common)
        return;
    pthread_mutex_lock(&lock);
    common->users--;
    prune();
    pthread_mutex_unlock(&lock);
}

const coll_profile *coll_common_profile(const coll_common *common) {
    return &common->profile;
}

/* Whether a call on TOPO costs what it does on COMMON's. */
static bool has_choices(const coll_common *common, const coll_topo *topo) {
    return common && topo->sites == 1 && topo->ranks == common->topo.ranks &&
           memcmp(topo->places, common->topo.places, (size_t)topo->ranks * sizeof *topo->places) ==
               0;
}

bool coll_common_find_choice(coll_common *common, coll_operation operation, bool started,
                             const coll_shape *call, coll_choice *choice) {
    if (!has_choices(common, call->topo))
        return false;
    pthread_mutex_lock(&lock);
    bool found = coll_choices_find(&common->choices, operation, started, call, choice);
    pthread_mutex_unlock(&lock);
    return found;
}

void coll_common_keep_choice(coll_common *common, coll_operation operation, bool started,
                             const coll_shape *call, const coll_choice *choice) {
    if (!(choice->predicted > 0) || !has_choices(common, call->topo))
        return;
    pthread_mutex_lock(&lock);
    coll_choices_keep(&common->choices, operation, started, call, choice);
    pthread_mutex_unlock(&lock);
}

/* Whether all COUNT ranks are in COMMON; WITHIN: which they are there. */
static bool contains(const coll_common *common, int count, const int in_world[], int within[]) {
    for (int i = 0; i < count; i++) {
        within[i] = in_world[i] == MPI_UNDEFINED ? -1 : common->ranks[in_world[i]];
        if (within[i] < 0)
            return false;
    }
    return common->id != 0;
}

/* What this process knows of all ranks by these sources, with one user more, and their places. */
static coll_common *find(const char *topology, const char *profile, int count, const int in_world[],
                         int within[], coll_topo *topo) {
    pthread_mutex_lock(&lock);
    coll_common *common = known;
    while (common &&
           (strcmp(common->topology, topology) != 0 || strcmp(common->source, profile) != 0 ||
            !contains(common, count, in_world, within)))
        common = common->next;
    if (common && coll_topo_part(&common->topo, count, within, topo) != MPI_SUCCESS)
        common = NULL;
    if (common)
        common->users++;
    pthread_mutex_unlock(&lock);
    return common;
}

/* Whether all ranks have found the same. */
static int compare(coll_comm *comm, const coll_common *common, bool *same) {
    int64_t id = common ? common->id : 0, both[2] = {id, -id}, highest[2];
    int code = coll_agree_highest(comm, 2, both, highest);
    *same = code == MPI_SUCCESS && highest[0] > 0 && highest[0] == -highest[1];
    return code;
}

/* Fills in COMMON's memory; false where there is not enough. */
static bool describe(coll_common *common, const char *topology, const char *profile, int count,
                     const int in_world[], int world) {
    common->topology = strdup(topology);
    common->source = strdup(profile);
    common->ranks = malloc((size_t)world * sizeof *common->ranks);
    if (!common->topology || !common->source || !common->ranks)
        return false;
    for (int rank = 0; rank < world; rank++)
        common->ranks[rank] = -1;
    for (int rank = 0; rank < count; rank++)
        if (in_world[rank] != MPI_UNDEFINED)
            common->ranks[in_world[rank]] = rank;
    return true;
}

/* The world's ranks of processes of several worlds are no names for them. */
static bool is_one_world(int count, const int in_world[]) {
    for (int i = 0; i < count; i++)
        if (in_world[i] == MPI_UNDEFINED)
            return false;
    return true;
}

/* Rank 0 tells which one it is, and where the racks come from. */
static int name(const coll_comm *comm, const int in_world[], coll_common *common) {
    static int64_t made; /* under the lock */
    struct {
        int64_t id;
        char origin[COLL_LOCATE_NOTE];
    } told = {0};
    if (comm->rank == 0 && is_one_world(comm->ranks, in_world)) {
        pthread_mutex_lock(&lock);
        told.id = ((int64_t)in_world[0] << 32) + ++made;
        pthread_mutex_unlock(&lock);
    }
    memcpy(told.origin, common->topo.origin, sizeof told.origin);
    int code = PMPI_Bcast(&told, (int)sizeof told, MPI_BYTE, 0, comm->private);
    common->id = told.id;
    memcpy(common->topo.origin, told.origin, sizeof told.origin);
    return code;
}

/* Finds out all, for COMM and those to come. */
static int make(coll_comm *comm, const char *topology, const char *profile, const int own[],
                const int in_world[], int world, coll_common **made, coll_topo *topo) {
    coll_common *common = calloc(1, sizeof *common);
    bool good = common && describe(common, topology, profile, comm->ranks, in_world, world);
    int code =
        coll_agree(comm, good ? MPI_SUCCESS
                              : coll_error(MPI_ERR_NO_MEM, "no memory for a communicator's state"));
    if (code == MPI_SUCCESS)
        code = coll_topo_create(comm->private, topology, &common->topo);
    if (code == MPI_SUCCESS)
        code = coll_profile_load(comm->private, profile, &common->topo, &common->profile);
    if (code == MPI_SUCCESS)
        code = name(comm, in_world, common);
    if (code == MPI_SUCCESS)
        code = coll_agree(comm, coll_topo_part(&common->topo, comm->ranks, own, topo));
    if (code != MPI_SUCCESS) {
        if (common)
            free_common(common);
        return code;
    }
    common->users = 1;
    insert(common);
    *made = common;
    return MPI_SUCCESS;
}

int coll_common_get(coll_comm *comm, const char *topology, const char *profile,
                    coll_common **common, coll_topo *topo) {
    void *room;
    int world = 0;
    bool same;
    size_t ranks = (size_t)comm->ranks;
    int code = coll_comm_room(comm, 3 * ranks * sizeof(int), &room);
    if (code != MPI_SUCCESS)
        return code;
    int *own = room, *in_world = own + ranks, *within = in_world + ranks;
    coll_topo places = {0};
    code = find_world_ranks(comm, own, in_world, &world);
    if (code != MPI_SUCCESS)
        return code;
    coll_common *found = find(topology, profile, comm->ranks, in_world, within, &places);
    code = compare(comm, found, &same);
    if (code == MPI_SUCCESS && same) {
        *common = found;
        *topo = places;
        return MPI_SUCCESS;
    }
    coll_topo_free(&places);
    coll_common_release(found);
    return code == MPI_SUCCESS ? make(comm, topology, profile, own, in_world, world, common, topo)
                               : code;
}
