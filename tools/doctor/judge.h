/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges what was measured: which host or link stands out, why, and what to do. Pure. */
#ifndef COLL_TOOLS_DOCTOR_JUDGE_H
#define COLL_TOOLS_DOCTOR_JUDGE_H

#include "tools/doctor/network_test.h"

/* What is wrong. Each kind may be the cause of the kinds after it. */
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
    int host, other; /* the host, or the first of several hosts, or -1 if the finding is about the
                        whole job. If OTHER is not -1: the link between both */
    char text[512];  /* what stands out, and the evidence */
    const char *remedy;
    bool *of_several; /* by host: is it one of several? NULL: one host, or no memory */
} doctor_finding;

/* The facts and measurements of all ranks. Hosts are numbered in the order of their first ranks. */
typedef struct doctor_job {
    int ranks, hosts;
    const doctor_facts *facts; /* by rank */
    const int *host_of;        /* by rank */
    const int *first;          /* by host: its lowest rank */
    const int *rack_of;        /* by rank; NULL: unknown */
    bool racks_measured;       /* by libcoll; else named by a file or by Slurm */
    const doctor_pair *pairs;  /* measured while all hosts measure */
    int pair_count;
} doctor_job;

/* Returns the facts of HOST: those of its first rank. */
static inline const doctor_facts *doctor_job_facts(const doctor_job *job, int host) {
    return &job->facts[job->first[host]];
}

/* Returns the number of ranks on HOST. */
static inline int doctor_job_ranks(const doctor_job *job, int host) {
    int ranks = 0;
    for (int rank = 0; rank < job->ranks; rank++)
        ranks += job->host_of[rank] == host;
    return ranks;
}

enum { DOCTOR_FINDINGS = 32, DOCTOR_SUSPECTS = 3, DOCTOR_REPEATS = 3, DOCTOR_EDGES = 3 };

typedef struct doctor_findings {
    int count;
    doctor_finding of[DOCTOR_FINDINGS];
} doctor_findings;

/*
 * A host or link that is to be measured again: between the three hosts in CORNER, which begins with
 * HOST and, for a link, OTHER. In a job of two hosts, the third corner is -1.
 */
typedef struct doctor_suspect {
    int host, other; /* as in a finding */
    int corner[3];
} doctor_suspect;

/* Adds findings from the facts of ranks and hosts. */
void doctor_judge_facts(const doctor_job *job, doctor_findings *found);

/* Sets SUSPECTS to the hosts and links that stand out in the pairs of JOB. Returns how many there
 * are. */
int doctor_find_suspects(const doctor_job *job, doctor_suspect suspects[DOCTOR_SUSPECTS]);

/*
 * Adds findings that measuring again has confirmed, and a finding about clocks. In repeat R,
 * suspect S has been measured between corners 0 and 1, then 0 and 2, then 1 and 2, from ALONE[(R *
 * COUNT + S) * DOCTOR_EDGES] on. Without a third corner only the first of these measurements
 * counts.
 */
void doctor_judge_suspects(const doctor_job *job, const doctor_suspect suspects[], int count,
                           const doctor_pair alone[], doctor_findings *found);

/* Returns whether FINDING is about HOST, perhaps among others. */
bool doctor_finding_is_about(const doctor_finding *finding, int host);

/* Removes all findings. */
void doctor_findings_free(doctor_findings *found);

/* Orders findings: certain ones first, then causes before consequences. */
void doctor_findings_sort(doctor_findings *found);

/* Returns a word for KIND. */
const char *doctor_kind_name(doctor_kind kind);

/* Returns the median of a quantity over the pairs of HOST; 0 if HOST has no pairs. */
double doctor_host_latency(const doctor_job *job, int host); /* s */
double doctor_host_rate(const doctor_job *job, int host);    /* bytes/s, in the slower direction */
double doctor_host_ahead(const doctor_job *job, int host);   /* s by which its clock is ahead */

#endif
