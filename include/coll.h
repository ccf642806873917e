/*
 * libcoll: MPI collectives for commodity Ethernet, wide-area sites and high rank counts.
 *
 * Every function is collective over its communicator unless it says otherwise, takes the arguments
 * of its MPI namesake, and returns MPI_SUCCESS or an MPI error code. Errors go through the
 * communicator's error handler, as MPI's own do; MPI_Error_string gives their text.
 *
 * Settings come from the environment (COLL_BCAST, COLL_TOPOLOGY, ...: see coll(3)) or from
 * COLL_Set.
 */
#ifndef COLL_H
#define COLL_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library's version as text, "0.1.0". Not collective; valid before MPI_Init. */
const char *COLL_Version(void);

/*
 * Chooses the algorithm of OPERATION ("bcast", "gather", "aggregate") on COMM, over what the
 * environment says. SPEC is "auto", an algorithm's name, or a name with parameters:
 * "chain:chunk=32K,window=16". Local, but every rank of COMM must make the same call at the same
 * place among its collectives. Errors: MPI_ERR_ARG when the operation, the name, a parameter or its
 * value is unknown or out of bounds; the text names what is allowed.
 */
int COLL_Set(MPI_Comm comm, const char *operation, const char *spec);

/* One algorithm of an operation, as COLL_Explain sees it for a call. */
typedef struct COLL_Candidate {
    const char *name;
    const char *summary;
    char spec[200];   /* with all its parameters: "chain:chunk=32K,window=16" */
    int applicable;   /* to this call */
    int chosen;       /* for this call */
    int rival;        /* here to be compared with: runs when it is named, is never chosen */
    double model;     /* seconds, from the cost model; 0 where not applicable */
    double predicted; /* the same with the profile's trials: what the choice goes by */
    const char *why;  /* it was chosen; NULL for the others */
} COLL_Candidate;

/*
 * What would run OPERATION on COMM with BYTES from or to ROOT: writes at most CAPACITY candidates,
 * all that are registered and in the order of their table, and sets *COUNT to how many there are.
 * With a CAPACITY of 0 it only counts. Collective like the operation itself on a communicator's
 * first use, local afterwards. The texts live as long as the program.
 */
int COLL_Explain(const char *operation, MPI_Count bytes, int root, MPI_Comm comm,
                 COLL_Candidate candidates[], int capacity, int *count);

/*
 * The same as if COMM had RANKS ranks, spread as those that it has: as many on a node, nodes in a
 * rack and racks in a site as the fullest now hold on average, rounded up.
 */
int COLL_Explain_ranks(const char *operation, MPI_Count bytes, int root, int ranks, MPI_Comm comm,
                       COLL_Candidate candidates[], int capacity, int *count);

/* The operations' names, counted from 0; NULL beyond the last. Not collective. */
const char *COLL_Operation_name(int operation);

/* The levels at which two ranks can be apart, nearest first. */
typedef enum COLL_Level {
    COLL_LEVEL_NUMA, /* the same NUMA domain of one node */
    COLL_LEVEL_NODE, /* different domains of one node */
    COLL_LEVEL_RACK, /* different nodes of one rack */
    COLL_LEVEL_SITE, /* different racks of one site */
    COLL_LEVEL_WIDE, /* different sites */
    COLL_LEVELS
} COLL_Level;

/* "numa", "node", "rack", "site", "wide"; NULL for others. Not collective. */
const char *COLL_Level_name(int level);

/* Where a rank is; numbers count from 0 in order of first appearance by rank. */
typedef struct COLL_Place {
    int site;
    int rack;         /* unique over all sites */
    int node;         /* unique over all racks */
    int numa;         /* within the node */
    const char *host; /* the node's name; lives as long as the communicator */
} COLL_Place;

/*
 * The places of all ranks of COMM, one each in PLACES. Collective on a communicator's first use,
 * local afterwards.
 */
int COLL_Places(MPI_Comm comm, COLL_Place places[]);

/* A cost as a function of message size: straight lines between knots, the last one's slope beyond.
 */
enum { COLL_KNOTS = 8 };
typedef struct COLL_Curve {
    int knots;                  /* 0: not measured */
    double error;               /* of the fit: the mean of |measured / fitted - 1| */
    double bytes[COLL_KNOTS];   /* ascending */
    double seconds[COLL_KNOTS]; /* never falling */
} COLL_Curve;

/* The value of CURVE, which has a knot at least, at BYTES. Not collective. */
double COLL_Curve_at(const COLL_Curve *curve, double bytes);

/* The parameters of the cost model of Tam and Wang that are functions of message size. */
typedef enum COLL_Parameter {
    COLL_SEND_OVERHEAD,    /* Os: the processor's time for a send */
    COLL_SEND_GAP,         /* gs: from one send to the next, as fast as the network takes them */
    COLL_TRANSFER,         /* L: on the way, without the overheads at both ends */
    COLL_RECEIVE_GAP,      /* gr: from one arrival to the next at a host to which many send */
    COLL_ARRIVAL_OVERHEAD, /* Or: what an arrival takes from a computation in the foreground */
    COLL_RECEIVE_OVERHEAD, /* Ur: the processor's time to receive what has arrived */
    COLL_PARAMETERS
} COLL_Parameter;

/* "Os", "gs", "L", "gr", "Or", "Ur"; NULL for others. Not collective. */
const char *COLL_Parameter_name(int parameter);

/* Copies in memory, by where the data comes from and goes to. */
typedef enum COLL_Copy {
    COLL_COPY_CACHE_TO_CACHE,   /* Mctc */
    COLL_COPY_CACHE_TO_MEMORY,  /* Mctm */
    COLL_COPY_MEMORY_TO_MEMORY, /* Mmtm */
    COLL_COPIES
} COLL_Copy;

/* "Mctc", "Mctm", "Mmtm"; NULL for others. Not collective. */
const char *COLL_Copy_name(int copy);

/* The cost model's parameters of one level. Curves that were not measured follow from the first
 * three. */
typedef struct COLL_Cost {
    double latency;  /* s: from the start of a small send to its arrival */
    double overhead; /* s: processor time of one send or one receive */
    double per_byte; /* s: the gap per byte of a stream of messages, 1 / bandwidth */
    double wake;     /* s: what a rank of libcoll that waits for a message adds to Ur: it sleeps */
    double per_rank; /* s: what each rank beyond two that talks at once adds to L */
    double together; /* bytes/s: what all streams at once get in sum; 0: no limit was found */
    double buffer;   /* BL, bytes: what waits before the bottleneck without loss; 0: unknown */
    COLL_Curve curve[COLL_PARAMETERS];
} COLL_Cost;

/* What the library found out about a communicator. The texts live as long as it. */
typedef struct COLL_Description {
    int ranks, sites, racks, nodes;
    int most_ranks_per_node;
    int cores_per_node;   /* the fewest that the ranks of a node may use */
    int crowded;          /* some node has more processes than cores */
    const char *wait;     /* "auto", "polite", "spin" or "block" */
    double timeout;       /* s; 0: none */
    const char *topology; /* the file it was read from, or NULL */
    const char *profile;  /* the file it was read from, or "built-in" */
    COLL_Cost cost[COLL_LEVELS];
    int measured[COLL_LEVELS];    /* 0: that level's cost is the built-in one */
    COLL_Curve copy[COLL_COPIES]; /* of memory on one node */
} COLL_Description;

/* Describes COMM. Collective on a communicator's first use, local afterwards. */
int COLL_Describe(MPI_Comm comm, COLL_Description *description);

/*
 * What one algorithm took on so many ranks when it was tried, and what the cost model says of it.
 * Predictions go by trials, interpolated between sizes and numbers of ranks, and by the model
 * beyond.
 */
enum { COLL_TRIAL_KNOTS = 8, COLL_TRIALS = 64 };
typedef struct COLL_Trial {
    COLL_Level level;   /* the farthest one at which the ranks were apart */
    char operation[16]; /* "bcast" */
    char algorithm[32]; /* "chain" */
    int ranks;
    int knots;
    double bytes[COLL_TRIAL_KNOTS];   /* ascending */
    double seconds[COLL_TRIAL_KNOTS]; /* that it took */
    double model[COLL_TRIAL_KNOTS];   /* s: COLL_Candidate's model */
} COLL_Trial;

/* What a profile holds. COST[level] counts where MEASURED[level] is not 0, a curve where it has
 * knots. */
typedef struct COLL_Profile {
    COLL_Cost cost[COLL_LEVELS];
    int measured[COLL_LEVELS];
    COLL_Curve copy[COLL_COPIES]; /* of memory on one node */
    int trials;
    COLL_Trial trial[COLL_TRIALS];
} COLL_Profile;

/*
 * Writes PROFILE, measured on the hosts of COMM, to the file at PATH, which is replaced as a whole
 * or not at all. Call it on one rank; collective on a communicator's first use. Errors: MPI_ERR_ARG
 * for values out of bounds or no level at all, MPI_ERR_FILE.
 */
int COLL_Profile_write(const char *path, MPI_Comm comm, const COLL_Profile *profile);

/* An environment variable that the library or its programs read. */
typedef struct COLL_Setting {
    const char *name;
    const char *help;          /* one line: what it sets */
    const char *values;        /* what it may be, with a word on each where that is needed */
    const char *default_value; /* what holds where it is unset or empty */
} COLL_Setting;

/* All settings, ended by a NULL name. Not collective. */
const COLL_Setting *COLL_Settings(void);

/*
 * MPI_Bcast. COUNT may exceed INT_MAX. Ranks may describe the data by different datatypes as long
 * as their sizes in bytes agree. BUFFER is read at ROOT and written elsewhere.
 */
int COLL_Bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

/*
 * MPI_Gather. Counts may exceed INT_MAX, and so may what the root gets in all. Ranks may describe
 * their data by different datatypes as long as the sizes in bytes agree. SEND_BUFFER may be
 * MPI_IN_PLACE at ROOT, whose block is then there already. The receive arguments count at ROOT
 * alone.
 */
int COLL_Gather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                MPI_Comm comm);

/*
 * MPI_Gatherv: RECEIVE_COUNTS[i] elements of rank i go to DISPLACEMENTS[i], counted in extents of
 * RECEIVE_TYPE. The rest is as in COLL_Gather.
 */
int COLL_Gatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                 void *receive_buffer, const MPI_Count receive_counts[],
                 const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                 MPI_Comm comm);

/*
 * A pool of key-value pairs: 64-bit keys, values of one fixed size, at most one value a key. A
 * value added under a key that is there is combined with the one that is there. Adding is safe from
 * any number of threads at once; memory follows the keys that the pool holds.
 */
typedef struct COLL_Pool COLL_Pool;

/*
 * Combines FROM into INTO, both VALUE_BYTES long and aligned to 8 bytes. Must be associative and
 * commutative, must not keep the pointers or touch the pool, and may be called from several threads
 * at once (never twice at once for one key). CONTEXT is what COLL_Pool_create was given.
 */
typedef void COLL_Combine(void *into, const void *from, size_t value_bytes, void *context);

/*
 * Makes an empty pool; not collective. The caller frees it with COLL_Pool_free. Errors: MPI_ERR_ARG
 * for no combine function or VALUE_BYTES of 0, MPI_ERR_NO_MEM. *POOL is set only on success.
 */
int COLL_Pool_create(size_t value_bytes, COLL_Combine *combine, void *context, COLL_Pool **pool);

/* Frees *POOL and sets it to NULL. Not collective; NULL inside is fine. */
void COLL_Pool_free(COLL_Pool **pool);

/*
 * Adds VALUE (copied, of any alignment) under KEY, combining it with what is there. Thread-safe,
 * not collective. Errors: MPI_ERR_NO_MEM, which leaves the pool as it was.
 */
int COLL_Pool_add(COLL_Pool *pool, uint64_t key, const void *value);

/* The number of keys in POOL. Not collective. */
size_t COLL_Pool_size(const COLL_Pool *pool);

/* The value under KEY, or NULL. It stays valid until the pool is next changed. Not collective. */
const void *COLL_Pool_find(const COLL_Pool *pool, uint64_t key);

/*
 * Calls VISIT for every pair in ascending order of keys until it returns non-zero, and returns
 * what VISIT returned last (0 for an empty pool), or -1 where memory ran out. Not collective; the
 * pool must not be changed meanwhile.
 */
int COLL_Pool_visit(const COLL_Pool *pool,
                    int (*visit)(uint64_t key, const void *value, void *context), void *context);

/* What one COLL_Aggregate did on this rank. Times in seconds, sizes in bytes. */
typedef struct COLL_Aggregate_stats {
    double local_seconds;    /* stage 1: combining among the processes of a node */
    double group_by_seconds; /* stage 2: regrouping by partition across nodes */
    double gather_seconds;   /* stage 3: gathering the partitions at the root */
    uint64_t bytes_sent;     /* keys and values that left this rank, over all stages */
    uint64_t peak_bytes;     /* the most memory that the pool and buffers held at once */
} COLL_Aggregate_stats;

/*
 * Combines the pools of all ranks into ROOT's: afterwards the pool at ROOT holds every key that any
 * rank held, once, and the other ranks' pools are empty. VALUE_BYTES and the combine function must
 * be the same everywhere. The order of combination is fixed by the layout of the ranks over the
 * nodes, never by the order of arrival. STATS may be NULL. Where a rank runs out of memory all
 * ranks get MPI_ERR_NO_MEM; the pools then stay valid, but pairs may be missing. Source: papers
 * Zhang, Qiu et al., 3-stage aggregation (eq. 4).
 */
int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats);

/* An allreduce under way, made by DCP_IAllreduce. */
typedef struct DCP_Pending *DCP_Request;
#define DCP_REQUEST_NULL ((DCP_Request)0)

/*
 * MPI_Iallreduce on dedicated collective processors (DCPs): the call hands the values over, the
 * DCPs reduce them while the caller computes, DCP_Wait fetches the result. Where no DCP serves
 * (COLL_DCP is not set, a user's operation or a derived type, much data, an intercommunicator, a
 * communicator from MPI_Comm_idup before its first MPI_Allreduce) it is MPI_Iallreduce itself, so
 * that the same program runs anywhere. Sums of floating-point numbers are formed along one tree
 * over the ranks: the same bits on every rank and in every run.
 *
 * SENDBUF may be MPI_IN_PLACE. RECVBUF must not be touched before the request completes, SENDBUF
 * not be changed. Source: paper "CDCP", section IV.B.
 */
int DCP_IAllreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, DCP_Request *request);

/*
 * Waits until *REQUEST is complete and sets it to DCP_REQUEST_NULL. Not collective. A
 * DCP_REQUEST_NULL is complete at once. Ranks whose count, type or operation don't match get
 * MPI_ERR_OTHER with a text that says who and how; with COLL_TIMEOUT, late ranks are named.
 */
int DCP_Wait(DCP_Request *request);

/* The same without waiting: *FLAG says whether *REQUEST was complete. */
int DCP_Test(DCP_Request *request, int *flag);

#ifdef __cplusplus
}
#endif
#endif
