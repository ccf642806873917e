/*
 * What libcoll knows and how it decides, for tools: its algorithms, the choice among them, places,
 * costs, profiles, settings, and dedicated collective processors without the wrapper. It promises
 * less than coll.h: structures may gain members with any version, so build a tool against the
 * version that it runs with.
 *
 * Functions return MPI_SUCCESS or an MPI error code, as those of coll.h do.
 */
#ifndef COLL_TOOLS_H
#define COLL_TOOLS_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct COLL_Pending; /* what a COLL_Request of coll.h points to */

/* One algorithm of an operation, as COLL_Explain sees it for a call. */
typedef struct COLL_Candidate {
    const char *name;
    const char *summary;
    char spec[200];   /* with all its parameters: "chain:segment=32K,window=16" */
    int applicable;   /* to this call */
    int uneven;       /* to one like it whose sizes differ, where some ranks know only their own */
    int chosen;       /* for this call */
    int rival;        /* here to be compared with: runs when it is named, is never chosen */
    double predicted; /* seconds, from the cost model; 0 where not applicable */
    double otherwise; /* seconds, if it is COLL_REPRODUCIBLE that rules it out; else 0 */
    double played;    /* seconds, from as long plays as were asked for; 0: none were */
    double host_bytes, rack_bytes,
        site_bytes;  /* with those: over the busiest host's link, rack's
                        uplink and site's, one way; 0 where it's no plan */
    const char *why; /* it was chosen; NULL for the others */
} COLL_Candidate;

/*
 * What would run OPERATION on COMM with BYTES from or to ROOT, on rank 0 also by what was learnt
 * before (COLL_LEARN), which other ranks hear of with their first call: writes at most CAPACITY
 * candidates, all that are registered and in the order of their table, and sets *COUNT to how many
 * there are. With a CAPACITY of 0 it only counts. Collective like the operation itself on a
 * communicator's first use, local afterwards. The texts live as long as the program.
 */
int COLL_Explain(const char *operation, MPI_Count bytes, int root, MPI_Comm comm,
                 COLL_Candidate candidates[], int capacity, int *count);

/*
 * The same as if COMM had RANKS ranks, spread as those that it has: as many on a node, nodes in a
 * rack and racks in a site as the fullest now hold on average, rounded up.
 */
int COLL_Explain_ranks(const char *operation, MPI_Count bytes, int root, int ranks, MPI_Comm comm,
                       COLL_Candidate candidates[], int capacity, int *count);

/* The same, and with RACKS above 0 over so many racks of one site. RANKS may be 0: COMM's. */
int COLL_Explain_racks(const char *operation, MPI_Count bytes, int root, int ranks, int racks,
                       MPI_Comm comm, COLL_Candidate candidates[], int capacity, int *count);

/* A call of which a tool asks. */
typedef struct COLL_Question {
    const char *operation;
    MPI_Count bytes;
    int root;
    int ranks;  /* 0: those of the communicator */
    int racks;  /* that they are spread over; 0: like those of the communicator, */
    int sites;  /* and the racks over so many sites; 0: of the same, or of one if racks are told */
    int events; /* of each plan's play, at most, for COLL_Candidate's played; 0: it isn't asked for.
                   Some 100 bytes and 200 ns each */
} COLL_Question;

/* Answers it, as COLL_Explain does. What is chosen is what a job would choose, in the little time
 * that it has to predict; long plays need no more than one rank. */
int COLL_Explain_question(const COLL_Question *question, MPI_Comm comm, COLL_Candidate candidates[],
                          int capacity, int *count);

/*
 * Draws such a call as the cost model plays it, as an SVG on STREAM: a line for each rank, its
 * messages, and what goes over the racks' uplinks. SPEC names the algorithm ("chain:segment=32K");
 * NULL, "" and "auto" stand for what would run. RANKS as above, or 0 for those of COMM; with RACKS
 * above 0 they are spread over so many racks of one site. Local like COLL_Explain. MPI_ERR_ARG
 * where the algorithm is no plan, MPI_ERR_COUNT where there is too much to draw; STREAM's errors
 * are the caller's to find.
 */
int COLL_Draw(const char *operation, MPI_Count bytes, int root, int ranks, int racks,
              const char *spec, MPI_Comm comm, FILE *stream);

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

/* What a profile holds. COST[level] counts where MEASURED[level] is not 0, a curve where it has
 * knots. */
typedef struct COLL_Profile {
    COLL_Cost cost[COLL_LEVELS];
    int measured[COLL_LEVELS];
    COLL_Curve copy[COLL_COPIES]; /* of memory on one node */
} COLL_Profile;

/*
 * Writes PROFILE, measured on the hosts of COMM, to the file at PATH, which is replaced as a whole
 * or not at all. Call it on one rank; collective on a communicator's first use. Errors: MPI_ERR_ARG
 * for values out of bounds or no level at all, MPI_ERR_FILE.
 */
int COLL_Profile_write(const char *path, MPI_Comm comm, const COLL_Profile *profile);

/*
 * The path of the file that keeps what this user's programs have learnt, which may not be there
 * yet; for the caller to free. NULL: no home directory. Local, needs no MPI.
 */
char *COLL_Learnt_file(void);

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
 * What a component of an MPI library needs that brings that library's own collectives to libcoll.
 */

/*
 * Point-to-point messages that no call of a program can receive or be mistaken for, although they
 * go over the program's own communicators. The first two are as MPI_Isend and MPI_Irecv; TAG is
 * from 0 to 32767, and PEER may be MPI_ANY_SOURCE.
 */
typedef struct COLL_Transport {
    int (*isend)(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request *request);
    int (*irecv)(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request *request);
    /*
     * Sets WORLD_RANKS to the ranks in MPI_COMM_WORLD of all ranks of COMM; returns 0 if one of
     * them is in another MPI_COMM_WORLD. Local.
     */
    int (*world_ranks)(MPI_Comm comm, int world_ranks[]);
} COLL_Transport;

/*
 * Tells all processes of MPI_COMM_WORLD what libcoll needs to know of each, and takes rank 0's
 * settings for all. From then on every communicator of these processes is set up by each of its
 * ranks for itself: without a message and without another communicator, at its first call of any
 * kind. Its messages go by TRANSPORT, which must live until MPI_Finalize. Collective over
 * MPI_COMM_WORLD, once, when nothing else is under way, such as at the end of MPI_Init. Returns the
 * same error on all ranks: MPI_ERR_ARG (settings), MPI_ERR_FILE (a topology or a profile),
 * MPI_ERR_NO_MEM, or MPI's own; all is then as if it had not been called.
 */
int COLL_Setup_job(const COLL_Transport *transport);

/*
 * The error that this process's environment gives every communicator on first use, as its class and
 * a TEXT cut to SIZE bytes, or MPI_SUCCESS; files that are named aren't looked at. Local, also
 * before MPI_Init.
 */
int COLL_Check_settings(char text[], size_t size);

/*
 * *NATIVE: whether every call of OPERATION on COMM would go to the MPI library's own, with no other
 * way to wait, so that it may as well stay there; the same on all ranks. Local after
 * COLL_Setup_job; else collective on a communicator's first use.
 */
int COLL_Always_native(const char *operation, MPI_Comm comm, int *native);

/*
 * How often COLL_Set was called in this process: what COLL_Always_native says may be another then.
 * The number itself, which goes on. Local.
 */
const unsigned *COLL_Sets(void);

/*
 * Returns COLL_TIMEOUT in seconds as it holds for calls on COMM: rank 0's, or this process's until
 * COMM has been set up; 0 if there is none. Local.
 */
double COLL_Timeout(MPI_Comm comm);

/*
 * Returns an error, MPI_ERR_OTHER, whose text says that NAME, an MPI function that the MPI library
 * runs itself, did not end in SECONDS. Local.
 */
int COLL_Timed_out(const char *name, double seconds);

/*
 * Whether errors of this thread's calls are only RETURNED from now on, since their caller is an MPI
 * call that raises them itself; else they go through the error handler, too, as they do at first.
 * Returns what held before. Local.
 */
int COLL_Return_errors(int returned);

/*
 * Moves on what is under way, and gives up what COLL_TIMEOUT says to; to be called again and again
 * by what the MPI library does while it waits. 0 where this or another thread is at it already: it
 * has done nothing then, and nothing may be completed now. Local, never waits.
 */
int COLL_Advance(void);

/* Whether COLL_Wait of the active REQUEST wouldn't wait. Moves nothing on. Local. */
int COLL_Is_complete(struct COLL_Pending *request);

/*
 * Dedicated collective processors in a program of one's own, without libcoll_pmpi; collective over
 * MPI_COMM_WORLD. SPEC says which ranks serve, as COLL_DCP does: "1:4", "2". On ranks that serve
 * *APP is MPI_COMM_NULL, and they call DCP_Serve; on all others it holds those others, on which
 * DCP_IAllreduce is served until DCP_Stop frees it. These three return their errors without
 * calling an error handler. MPI_ERR_ARG, on all ranks, for a bad SPEC.
 */
int DCP_Start(const char *spec, MPI_Comm *app);

/* Serves until the ranks that are served have called DCP_Stop. */
int DCP_Serve(void);

/* The end of the service for this rank. */
int DCP_Stop(void);

#ifdef __cplusplus
}
#endif
#endif
