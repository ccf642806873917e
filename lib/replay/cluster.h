/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Describes the cluster on which a recorded job is replayed, and estimates how long collectives
 * take there. Every call is simulated from the times at which its ranks arrive (lib/sim/sim.h), as
 * if nothing else were on the network. Calls whose algorithm has no plan take their estimated time
 * from the last arrival on.
 */
#ifndef COLL_LIB_REPLAY_CLUSTER_H
#define COLL_LIB_REPLAY_CLUSTER_H

#include "lib/algorithm/spec.h"
#include "lib/replay/job_record.h"
#include "lib/sim/sim.h"

/* The algorithm for the calls of one group that have the same operation, size class and root, and
 * are either all uneven or all even. */
typedef struct coll_cluster_choice {
    struct coll_cluster_choice *next;
    const coll_job_group *group;
    coll_operation operation;
    int size_class, root;
    bool uneven;
    const coll_algorithm *asked;     /* the algorithm that was asked for; NULL: libcoll's choice */
    const coll_algorithm *algorithm; /* NULL: the MPI library's own */
    coll_values values;
    coll_topo topo; /* of the group; for the MPI library's own, beginning with the root */
    int first;      /* the member that is TOPO's rank 0; the others follow in their order */
    coll_profile network;
    bool known; /* KNOWN_SECONDS is the estimate for a call of KNOWN_BYTES */
    size_t known_bytes;
    double known_seconds;
    bool many;       /* simulations have memory for many messages, since a small one failed */
    size_t too_long; /* bytes of the shortest call with too many events to simulate; 0: none */
} coll_cluster_choice;

typedef struct coll_cluster {
    const COLL_Record *record;
    coll_topo topo;
    coll_profile profile;
    coll_spec specs[COLL_OPERATIONS];
    coll_cluster_choice *choices;
} coll_cluster;

/*
 * Makes the cluster that HOW describes. Returns MPI errors with a text. The caller frees CLUSTER
 * with coll_cluster_free even then.
 */
int coll_cluster_make(const COLL_Record *record, const COLL_Cluster *how, coll_cluster *cluster);
void coll_cluster_free(coll_cluster *cluster);

/*
 * Makes the topology of COUNT ranks on HOSTS. The racks and sites are those of the file at PATH. If
 * PATH is NULL or empty, they are those of the record if it has the places of all these hosts, else
 * all hosts are in one rack. Returns MPI errors with a text. The caller frees TOPO even then.
 */
int coll_cluster_make_topo(const COLL_Record *record, const char *path, int count,
                           const char *const hosts[], coll_topo *topo);

/* Returns the choice for CALL of GROUP: ASKED or, if ASKED is NULL, libcoll's choice. Returns NULL
 * if out of memory. CLUSTER owns the choice. */
coll_cluster_choice *coll_cluster_choose(coll_cluster *cluster, const coll_job_group *group,
                                         const coll_job_call *call, const coll_algorithm *asked);

/* The simulation of a call of BYTES with a choice. */
typedef struct coll_cluster_plan {
    coll_shape shape;
    coll_values values;
    const coll_algorithm *algorithm; /* NULL: a reduce to rank 0, and then a scatter */
    const coll_planner *planner;     /* NULL: the algorithm has no plan */
    double factor; /* by which the simulated time after the last arrival is multiplied */
} coll_cluster_plan;
coll_cluster_plan coll_cluster_plan_of(const coll_cluster_choice *choice, size_t bytes);

/*
 * Lets the members of CHOICE's group make CALLS. A member left its previous call at NOW[rank], s,
 * computes for the BEFORE seconds of its new call, and then enters this call. Sets STARTS and ENDS
 * to the times at which the members enter and leave, and NOW to ENDS.
 */
int coll_cluster_replay(coll_cluster_choice *choice, coll_job_call *const calls[], double now[],
                        double starts[], double ends[]);

/* Returns the estimated seconds of a call of BYTES that all members enter at the same time. If
 * CHOICE already has an estimate for another call, returns that estimate: all calls of a choice are
 * of one size class. */
double coll_cluster_time_alone(coll_cluster_choice *choice, size_t bytes);

#endif
