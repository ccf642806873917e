/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the racks, and the rate of their uplinks, that explain the times of transfers best. Pure.
 *
 * In each round every host sends as many bytes to another host, all at the same time. The model: a
 * transfer inside a rack takes the usual time. Of one between racks, k transfers leave the sender's
 * rack in that round, or k enter the receiver's rack, whichever is more. It takes k/u times as long
 * if an uplink has the rate of u links, less than k. So transfers between racks can also be fast,
 * in rounds in which few cross, and how long they take tells the racks.
 */
#ifndef COLL_LIB_TOPOLOGY_RACK_FIT_H
#define COLL_LIB_TOPOLOGY_RACK_FIT_H

/* Most hosts and rounds of a fit. */
enum { COLL_FIT_HOSTS = 128, COLL_FIT_ROUNDS = 16 };

typedef struct coll_transfer {
    int from, to;
    double seconds; /* negative: a lower bound */
} coll_transfer;

/* The misfit of a transfer is the logarithm, without sign and at most 0.5, of its time divided by
 * the model's. */
typedef struct coll_rack_fit {
    int racks;
    int rack[COLL_FIT_HOSTS]; /* of each host */
    /* In mean misfits of a transfer: */
    double gain;   /* by how much less all transfers' misfit is than with a single rack */
    double margin; /* how much it grows at least if one host is moved to another rack, or two are
                      exchanged; infinite with a single rack */
} coll_rack_fit;

/* Fits racks to the TRANSFERS of ROUNDS rounds among HOSTS hosts, which are stored round by round,
 * in each round by sender; inside a rack transfers take USUAL seconds. Returns 0, or -1 if out of
 * memory. */
int coll_rack_fit_make(int hosts, int rounds, const coll_transfer transfers[], double usual,
                       coll_rack_fit *fit);

#endif
