/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges what was measured: which host or link stands out, why, and what to do. Pure. */
#ifndef COLL_TOOLS_DOCTOR_JUDGE_H
#define COLL_TOOLS_DOCTOR_JUDGE_H

#include "tools/doctor/network_test.h"

/* What is wrong. The first kinds may be the cause of later ones. */
typedef enum doctor_kind {
    DOCTOR_SHARED_CORE,
    DOCTOR_FEW_CORES,
    DOCTOR_LIMIT,
    DOCTOR_BUSY,
    DOCTOR_SLOW,
    DOCTOR_BRIDGE,
    DOCTOR_DOWN,
    DOCTOR_MEGABITS,
    DOCTOR_MTU,
    DOCTOR_ERRORS,
    DOCTOR_LOSS,
    DOCTOR_LATENCY,
    DOCTOR_RATE,
    DOCTOR_CLOCK,
    DOCTOR_NAME_LOOPBACK,
    DOCTOR_ORDER,
    DOCTOR_KINDS
} doctor_kind;

typedef struct doctor_finding {
    doctor_kind kind;
    bool certain;    /* repeated measurements agree, or the host says so itself */
    int host, other; /* the host, or the first of several, or -1 if it is about the whole job; with
                        OTHER: the link between both */
    char text[512];  /* what stands out, and the evidence */
    const char *remedy;
} doctor_finding;

/* The facts and measurements of all ranks. Hosts are numbered in the order of their first ranks. */
typedef struct doctor_job {
    int ranks, hosts;
    const doctor_facts *facts; /* by rank */
    const int *host_of;        /* by rank */
    const int *first;          /* by host: its lowest rank */
    const int *rack_of;        /* by rank; NULL: unknown */
    bool racks_measured;       /* by libcoll; else named by a file or by Slurm */
    const doctor_pair *pairs;  /* measured at the same time */
    int pair_count;
} doctor_job;

enum { DOCTOR_FINDINGS = 32, DOCTOR_SUSPECTS = 3, DOCTOR_REPEATS = 3, DOCTOR_EDGES = 3 };

typedef struct doctor_findings {
    int count;
    doctor_finding of[DOCTOR_FINDINGS];
} doctor_findings;

/*
 * A host or link that is to be measured again: between three hosts, of which CORNER has the suspect
 * first. In a job of two hosts, the third is -1.
 */
typedef struct doctor_suspect {
    int host, other; /* as in a finding */
    int corner[3];
} doctor_suspect;

/* Adds findings from the facts of ranks and hosts. */
void doctor_judge_facts(const doctor_job *job, doctor_findings *found);

/* Sets the hosts and links that stand out in the pairs of JOB; returns how many. */
int doctor_find_suspects(const doctor_job *job, doctor_suspect suspects[DOCTOR_SUSPECTS]);

/*
 * Adds what measuring again has confirmed, and what the clocks show. In repeat R, suspect S has
 * been measured between corners 0 and 1, then 0 and 2, then 1 and 2, from ALONE[(R * COUNT + S) *
 * DOCTOR_EDGES] on. Without a third corner only the first counts.
 */
void doctor_judge_suspects(const doctor_job *job, const doctor_suspect suspects[], int count,
                           const doctor_pair alone[], doctor_findings *found);

/* Orders findings: certain ones first, then causes before consequences. */
void doctor_findings_sort(doctor_findings *found);

/* Returns a word for KIND. */
const char *doctor_kind_name(doctor_kind kind);

/* The median, over the pairs of HOST, of a quantity; 0 if there is none. */
double doctor_host_latency(const doctor_job *job, int host); /* s */
double doctor_host_rate(const doctor_job *job, int host);    /* bytes/s, in the slower direction */
double doctor_host_ahead(const doctor_job *job, int host);   /* s, of its clock */

#endif
