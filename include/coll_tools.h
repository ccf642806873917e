/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface for tools: libcoll's algorithms, how it chooses among them, places of ranks, costs,
 * profiles, settings, and dedicated collective processors without the wrapper. It is less stable
 * than coll.h: any version may add members to structures, so build a tool with the version that it
 * runs with.
 *
 * Functions return MPI_SUCCESS or an MPI error code, as the functions of coll.h do.
 */
#ifndef COLL_TOOLS_H
#define COLL_TOOLS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One algorithm of an operation, as COLL_Explain describes it for a call. */
typedef struct COLL_Candidate {
    const char *name;
    const char *summary;
    char spec[200]; /* the name with all parameters: "chain:segment=32K,window=16" */
    int applicable; /* can run this call */
    /*
     * can run a similar call in which sizes differ by rank, and some ranks know only their own size
     */
    int uneven;
    int chosen;       /* chosen for this call */
    int rival;        /* baseline for comparisons: runs only if it is named, is never chosen */
    double predicted; /* seconds, from the cost model; 0 if not applicable */
    double otherwise; /* if only COLL_REPRODUCIBLE rules it out, its predicted seconds; else 0 */
    double played;    /* seconds, from a simulation as long as requested; 0 without one */
    /* from the same simulations: bytes over the busiest host's link, rack's uplink and site's
       uplink, one way; 0 if the algorithm has no plan */
    double host_bytes, rack_bytes, site_bytes;
    const char *why;  /* why it was chosen; NULL for the others */
    char params[800]; /* a line for each parameter: "segment  0 to 1G  bytes a message\n" */
} COLL_Candidate;

/*
 * Describes which algorithm would run OPERATION on COMM with BYTES from or to ROOT. On rank 0 the
 * choice includes the results of earlier autotuning (COLL_LEARN), which other ranks get with their
 * first call. Writes up to CAPACITY candidates, in the order of their table, and sets *COUNT to the
 * number of registered algorithms; with a CAPACITY of 0 it only counts. Collective like the
 * operation itself on a communicator's first use, local afterwards. The texts are valid as long as
 * the program runs.
 */
int COLL_Explain(const char *operation, MPI_Count bytes, int root, MPI_Comm comm,
                 COLL_Candidate candidates[], int capacity, int *count);

/* A call about which a tool asks. */
typedef struct COLL_Question {
    const char *operation;
    MPI_Count bytes;
    int root;
    int ranks; /* 0: as many as in the communicator */
    int racks; /* racks over which the ranks are spread; 0: as in the communicator */
    /* sites over which the racks are spread; 0: as in the communicator, or one if RACKS is given */
    int sites;
    /*
     * most events of each plan's simulation, for COLL_Candidate's PLAYED; 0: no simulation. An
     * event takes about 100 bytes and 200 ns
     */
    int events;
} COLL_Question;

/*
 * Answers QUESTION as COLL_Explain does. CHOSEN marks the algorithm that a job would choose in the
 * short time that a job has for predictions. One rank is enough for long simulations.
 */
int COLL_Explain_question(const COLL_Question *question, MPI_Comm comm, COLL_Candidate candidates[],
                          int capacity, int *count);

/* Returns the name of an operation, numbered from 0; NULL beyond the last. Not collective. */
const char *COLL_Operation_name(int operation);

/* How far apart two ranks are, nearest first. */
typedef enum COLL_Level {
    COLL_LEVEL_NUMA, /* the same NUMA domain of one node */
    COLL_LEVEL_NODE, /* different domains of one node */
    COLL_LEVEL_RACK, /* different nodes of one rack */
    COLL_LEVEL_SITE, /* different racks of one site */
    COLL_LEVEL_WIDE, /* different sites */
    COLL_LEVELS
} COLL_Level;

/* Returns "numa", "node", "rack", "site" or "wide"; NULL for other numbers. Not collective. */
const char *COLL_Level_name(int level);

/* The place of a rank; numbers begin at 0, in order of first appearance by rank. */
typedef struct COLL_Place {
    int site;
    int rack;         /* unique over all sites */
    int node;         /* unique over all racks */
    int numa;         /* within the node */
    const char *host; /* the node's name; lives as long as the communicator */
} COLL_Place;

/*
 * Writes the places of all ranks of COMM to PLACES. Collective on a communicator's first use, local
 * afterwards.
 */
int COLL_Places(MPI_Comm comm, COLL_Place places[]);

/* A message of a simulated call. Times are in nanoseconds from the common start. */
typedef struct COLL_Message {
    int from, to;
    uint64_t nth; /* number among the messages from FROM to TO with the same tag, from 0 */
    size_t bytes;
    COLL_Level level;
    int64_t start;   /* its first byte leaves the sender's host */
    int64_t arrival; /* its last byte is at the receiver's host */
    int64_t end;     /* the receive is complete */
} COLL_Message;

/* A simulated call. The caller provides the arrays, with an element for each rank. */
typedef struct COLL_Simulation {
    /* called for each message, when its receive is complete and PLACES are set */
    void (*see)(const COLL_Message *message, void *context);
    void *context;
    COLL_Place *places; /* HOST is NULL if the question names ranks or racks */
    int *order;         /* the ranks in chain order: the root's host and rack first */
    int64_t *ends;      /* nanoseconds after which each rank has ended */
    int64_t time;       /* the largest of ENDS */
    int nodes, racks, sites;
    int root;       /* -1 if the operation has none */
    char spec[200]; /* the algorithm with all parameters */
} COLL_Simulation;

/*
 * Simulates the call that QUESTION is about, with at most QUESTION->events events. SPEC names the
 * algorithm ("chain:segment=32K"); NULL, "" and "auto" stand for the algorithm that would be
 * chosen. Collective on a communicator's first use, local afterwards. Errors: MPI_ERR_ARG if the
 * algorithm has no plan, MPI_ERR_COUNT if there are too many events.
 */
int COLL_Simulate(const COLL_Question *question, const char *spec, MPI_Comm comm,
                  COLL_Simulation *simulation);

/*
 * A cost as a function of message size: piecewise linear between knots, continued with the last
 * slope.
 */
enum { COLL_KNOTS = 8 };
typedef struct COLL_Curve {
    int knots;                  /* 0: not measured */
    double error;               /* error of the fit: the mean of |measured / fitted - 1| */
    double bytes[COLL_KNOTS];   /* ascending */
    double seconds[COLL_KNOTS]; /* never falling */
} COLL_Curve;

/* Returns the value at BYTES of CURVE, which must have at least one knot. Not collective. */
double COLL_Curve_at(const COLL_Curve *curve, double bytes);

/* The parameters of the cost model of Tam and Wang that are functions of message size. */
typedef enum COLL_Parameter {
    COLL_SEND_OVERHEAD, /* Os: the processor's time for a send */
    COLL_SEND_GAP,    /* gs: the time between consecutive sends at the highest rate that the network
                         accepts */
    COLL_TRANSFER,    /* L: the time in the network, without the overheads at both ends */
    COLL_RECEIVE_GAP, /* gr: from one arrival to the next at a host to which many send */
    /* Or: the time that an arrival takes from a computation in the foreground */
    COLL_ARRIVAL_OVERHEAD,
    COLL_RECEIVE_OVERHEAD, /* Ur: the processor's time to receive what has arrived */
    COLL_PARAMETERS
} COLL_Parameter;

/* Returns "Os", "gs", "L", "gr", "Or" or "Ur"; NULL for other numbers. Not collective. */
const char *COLL_Parameter_name(int parameter);

/* Kinds of copies in memory, by source and destination. */
typedef enum COLL_Copy {
    COLL_COPY_CACHE_TO_CACHE,   /* Mctc */
    COLL_COPY_CACHE_TO_MEMORY,  /* Mctm */
    COLL_COPY_MEMORY_TO_MEMORY, /* Mmtm */
    COLL_COPIES
} COLL_Copy;

/* Returns "Mctc", "Mctm" or "Mmtm"; NULL for other numbers. Not collective. */
const char *COLL_Copy_name(int copy);

/*
 * The cost model's parameters of one level. Curves that were not measured are derived from the
 * first three parameters.
 */
typedef struct COLL_Cost {
    double latency;  /* s: from the start of a small send to its arrival */
    double overhead; /* s: processor time of one send or one receive */
    double per_byte; /* s: the gap per byte of a stream of messages, 1 / bandwidth */
    double wake;     /* s: added to Ur if a waiting rank sleeps */
    double per_rank; /* s: added to L for each rank beyond two that communicate at the same time */
    double together; /* bytes/s: the total of all concurrent streams; 0: no limit was found */
    double buffer;   /* BL: bytes that the bottleneck can queue without loss; 0: unknown */
    COLL_Curve curve[COLL_PARAMETERS];
} COLL_Cost;

/*
 * What the library knows about a communicator. The texts are valid as long as the communicator
 * exists.
 */
typedef struct COLL_Description {
    int ranks, sites, racks, nodes;
    int most_ranks_per_node;
    int cores_per_node;   /* the minimum over all nodes of the cores that a node's ranks may use */
    int crowded;          /* some node has more processes than cores */
    const char *wait;     /* "auto", "polite", "spin" or "block" */
    double timeout;       /* s; 0: none */
    const char *topology; /* the file it was read from, or NULL */
    const char *profile;  /* the file it was read from, or "built-in" */
    COLL_Cost cost[COLL_LEVELS];
    int measured[COLL_LEVELS];    /* 0: that level's cost is the built-in one */
    COLL_Curve copy[COLL_COPIES]; /* copies in memory on one node */
} COLL_Description;

/* Describes COMM. Collective on a communicator's first use, local afterwards. */
int COLL_Describe(MPI_Comm comm, COLL_Description *description);

/* Rates between hosts, in bytes/s; the same on all ranks. */
typedef struct COLL_Rates {
    double link;    /* of a host's link while all hosts send; 0: not measured */
    double uplinks; /* of all racks' uplinks together; 0: not measured, or one rack */
} COLL_Rates;

/*
 * Measures the rates between the hosts of COMM as a job without a profile does when it begins. This
 * takes some tenths of a second, in which nothing else should use the network. Measures nothing on
 * one host or between sites. Collective.
 */
int COLL_Measure_rates(MPI_Comm comm, COLL_Rates *rates);

/*
 * The contents of a profile. COST[level] is valid if MEASURED[level] is not 0. A curve, in a COST
 * or in COPY, is valid if its KNOTS is not 0.
 */
typedef struct COLL_Profile {
    COLL_Cost cost[COLL_LEVELS];
    int measured[COLL_LEVELS];
    COLL_Curve copy[COLL_COPIES]; /* copies in memory on one node */
} COLL_Profile;

/*
 * Writes PROFILE, measured on the hosts of COMM, to the file at PATH, which is replaced atomically.
 * Call it on one rank, after the first use of COMM, which is collective. Errors: MPI_ERR_ARG for
 * values out of bounds or no level at all, MPI_ERR_FILE.
 */
int COLL_Profile_write(const char *path, MPI_Comm comm, const COLL_Profile *profile);

/*
 * Returns the path of the file that stores the times that autotuning has found in this user's
 * programs (COLL_LEARN); the file need not exist yet. The caller frees the path. Returns NULL if
 * neither XDG_CACHE_HOME nor HOME is an absolute path, or if memory is short. Local, needs no MPI.
 */
char *COLL_Learnt_file(void);

/* An environment variable that the library or its programs read. */
typedef struct COLL_Setting {
    const char *name;
    const char *help;          /* one line: what it sets */
    const char *values;        /* the possible values, with explanations if needed */
    const char *default_value; /* the value if it is unset or empty */
} COLL_Setting;

/* Returns all settings, terminated by a NULL name. Not collective. */
const COLL_Setting *COLL_Settings(void);

/* The record that COLL_RECORD has written of a job. */
typedef struct COLL_Record COLL_Record;

/*
 * Reads the record in DIRECTORY, which COLL_Record_free frees. Local. Errors: MPI_ERR_FILE if the
 * record is incomplete, truncated, of several jobs or otherwise wrong.
 */
int COLL_Record_read(const char *directory, COLL_Record **record);
void COLL_Record_free(COLL_Record *record);

/* Returns the number of ranks of the job. Local. */
int COLL_Record_ranks(const COLL_Record *record);

/* The cluster for which a recorded job is estimated. 0 and NULL stand for a member's default. */
typedef struct COLL_Cluster {
    /* the host of each slot; rank r takes slot r (default: the recorded hosts) */
    const char *const *slots;
    int slot_count;
    int ranks_per_host;   /* without SLOTS: consecutive ranks on each host (default: as recorded) */
    const char *topology; /* file (default: the racks of the recorded hosts, if known; else one) */
    const char *profile;  /* file (default: that of the hosts, if there is one, else what a job
                             on these hosts measured within the last week, or built-in) */
    const char *algorithms; /* "allreduce=ring;bcast=chain:segment=32K" (default: chosen) */
} COLL_Cluster;

/* The blocking calls of one operation and size class, on all communicators. */
typedef struct COLL_Replay_row {
    const char *operation;
    char algorithm[32]; /* the one that libcoll runs; "several" if calls differ */
    size_t bytes;       /* the calls have at least BYTES and less than 2 BYTES */
    double calls;
    double recorded, libcoll, native; /* s, the mean of all ranks of the job */
} COLL_Replay_row;

/*
 * The whole job. An array of three has the recorded seconds, the seconds with libcoll, and the
 * seconds with the MPI library's own algorithms.
 */
typedef struct COLL_Replay_sum {
    int ranks, hosts, racks, sites;
    char profile[1024];    /* the file, or "built-in" */
    double run[3];         /* s from MPI_Init to MPI_Finalize, of the last rank */
    double collectives[3]; /* s in blocking collectives, the mean of the ranks */
    double skipped;        /* calls of all ranks that are not estimated: nonblocking and
                              persistent calls, and calls among neighbours */
    double sent;           /* bytes that ranks sent point to point */
} COLL_Replay_sum;

enum { COLL_REPLAY_ROWS = 512 };

/*
 * Estimates the job on CLUSTER: the ranks make their calls in the recorded order, with the recorded
 * time between them, and each call is simulated from the times at which its ranks arrive. Writes at
 * most COLL_REPLAY_ROWS rows to ROWS, and their number to *COUNT. The rows are in descending order
 * of the longer of their estimated times, LIBCOLL and NATIVE. Local.
 */
int COLL_Replay(const COLL_Record *record, const COLL_Cluster *cluster, COLL_Replay_row rows[],
                int *count, COLL_Replay_sum *sum);

/*
 * Writes the job on CLUSTER to STREAM as GOAL, the language of LogGOPSim and ATLAHS: libcoll's
 * plans of its blocking calls, and the recorded time between them. Messages that the program sends
 * itself are left out. The caller checks STREAM for errors. Local. Errors: MPI_ERR_ARG if an
 * algorithm has no plan.
 */
int COLL_Replay_goal(const COLL_Record *record, const COLL_Cluster *cluster, FILE *stream);

/* The seconds of a job before and after its ranks were placed. */
typedef struct COLL_Placement {
    double messages[2];    /* that the busiest link takes for the point-to-point messages */
    double collectives[2]; /* in blocking collectives, as COLL_Replay estimates them for libcoll */
    int no_uplinks;        /* the profile has no limit of the racks' uplinks: an uplink is
                              assumed to pass all that its hosts send */
} COLL_Placement;

/*
 * Searches for a better placement of the job's ranks on the slots of CLUSTER. Begins with the
 * recorded placement if the slots allow it, else with rank r in slot r. Sets SLOTS[r] to the slot
 * of rank r. The same SEED gives the same result. Local.
 */
int COLL_Replay_place(const COLL_Record *record, const COLL_Cluster *cluster, unsigned seed,
                      int slots[], COLL_Placement *found);

/*
 * Starts dedicated collective processors (DCPs) in a program without libcoll_pmpi. Collective over
 * MPI_COMM_WORLD. SPEC says which ranks serve, as COLL_DCP does: "1:4", "2". On ranks that serve,
 * *APP becomes MPI_COMM_NULL, and they must call DCP_Serve. On all other ranks *APP becomes a
 * communicator of the ranks that don't serve, on which DCPs run DCP_IAllreduce and the functions
 * below it in coll.h until DCP_Stop, which frees the communicator. DCP_Start, DCP_Serve and
 * DCP_Stop return their errors without invoking an error handler. A bad SPEC is MPI_ERR_ARG on all
 * ranks.
 */
int DCP_Start(const char *spec, MPI_Comm *app);

/* Serves until all served ranks have called DCP_Stop. */
int DCP_Serve(void);

/* Ends the service for this rank. */
int DCP_Stop(void);

#ifdef __cplusplus
}
#endif
#endif
