/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-info doctor: says which host, link or setting will make a job slow. */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "app/stats.h"
#include "tools/doctor/judge.h"
#include "tools/doctor/watchdog.h"

#include <coll_tools.h>

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: [mpirun -n RANKS ...] coll-info doctor [--json FILE]\n"
    "\n"
    "Examines the hosts of a job before a program runs there: cores and bindings, limits of\n"
    "control groups, speed, interfaces and which of them MPI uses, names, clocks, the order of\n"
    "ranks over racks, and between hosts latency, rate and lost packets. Prints a table of the\n"
    "hosts, and at most five findings: which host, link or rank stands out, the evidence, and\n"
    "what repairs it. \"may be\" marks what repeated measurements do not agree about. Start it\n"
    "with the same options of mpirun as the program.\n";

static const char legend[] =
    "cores: of the first rank; speed: of a core, compared with the median host; share: of a\n"
    "core that the rank gets while all compute; Mbit/s, us, resent: to and from other hosts,\n"
    "all at the same time";

enum { SHOWN = 5 };

static app_problem problem;

/* What this rank knows. Only the first rank of each host uses NETWORK, and only rank 0 sets
 * SUSPECTS. */
typedef struct doctor {
    MPI_Comm comm, first_comm; /* FIRST_COMM is MPI_COMM_NULL on other ranks */
    int host;                  /* of this rank */
    doctor_facts facts;
    doctor_network network;
    doctor_suspect suspects[DOCTOR_SUSPECTS];
    int suspect_count;
    int *rack_of;          /* by rank; NULL: unknown */
    doctor_pair *together; /* on rank 0 */
    int together_count;
    double began;
} doctor;

/* Creates FIRST_COMM and sets HOST: the number of a host is the rank of its first process in
 * FIRST_COMM. */
static int find_hosts(doctor *d) {
    MPI_Comm host_comm;
    int code = MPI_Comm_split_type(d->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_comm);
    if (code != MPI_SUCCESS)
        return code;
    const int local = app_rank(host_comm);
    code = MPI_Comm_split(d->comm, local == 0 ? 0 : MPI_UNDEFINED, 0, &d->first_comm);
    if (code == MPI_SUCCESS && local == 0)
        d->host = app_rank(d->first_comm);
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(&d->host, 1, MPI_INT, 0, host_comm);
    MPI_Comm_free(&host_comm);
    return code;
}

/* All ranks compute at the same time, as they will in the program. */
static int compute(doctor *d) {
    int code = MPI_SUCCESS;
    for (int nth = 0; nth < DOCTOR_TRIES && code == MPI_SUCCESS; nth++) {
        code = MPI_Barrier(d->comm);
        doctor_facts_compute(&d->facts, nth);
        doctor_watchdog_calm();
    }
    return code;
}

/* Measures again around each host or link that stands out: the links between the three hosts of the
 * suspect. In a job of two hosts, measures their only link three times as often instead. */
static int test_suspects(doctor *d) {
    static const int ends[DOCTOR_EDGES][2] = {{0, 1}, {0, 2}, {1, 2}};
    int wanted[DOCTOR_EDGES * DOCTOR_SUSPECTS][2] = {{0}}, count = DOCTOR_EDGES * d->suspect_count;
    for (int i = 0; i < count; i++) {
        const doctor_suspect *s = &d->suspects[i / DOCTOR_EDGES];
        const int *of = ends[s->corner[2] < 0 ? 0 : i % DOCTOR_EDGES];
        wanted[i][0] = s->corner[of[0]];
        wanted[i][1] = s->corner[of[1]];
    }
    int code = MPI_Bcast(&count, 1, MPI_INT, 0, d->first_comm);
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(wanted, 2 * DOCTOR_EDGES * DOCTOR_SUSPECTS, MPI_INT, 0, d->first_comm);
    if (code == MPI_SUCCESS && count > 0)
        code =
            doctor_network_test_alone(&d->network, (const int(*)[2])wanted, count, DOCTOR_REPEATS);
    return code;
}

/* Measures the network between hosts; called on their first ranks. */
static int test_network(doctor *d) {
    const int hosts = app_ranks(d->first_comm), most = hosts * DOCTOR_ROUNDS / 2 + 1,
              alone = DOCTOR_EDGES * DOCTOR_SUSPECTS * DOCTOR_REPEATS;
    d->network = (doctor_network){.comm = d->first_comm, .facts = &d->facts};
    d->together = calloc((size_t)most, sizeof *d->together);
    d->network.pairs = d->together;
    if (!d->together)
        return MPI_ERR_NO_MEM;
    int code = doctor_network_test(&d->network);
    d->together_count = d->network.count;
    d->network.pairs = calloc((size_t)alone, sizeof *d->network.pairs);
    if (!d->network.pairs)
        return MPI_ERR_NO_MEM;
    const doctor_job job = {.hosts = hosts, .pairs = d->together, .pair_count = d->together_count};
    if (code == MPI_SUCCESS && d->host == 0)
        d->suspect_count = doctor_find_suspects(&job, d->suspects);
    return code == MPI_SUCCESS ? test_suspects(d) : code;
}

/* Finds the rack of each rank, as libcoll will in the program. Does nothing for fewer than three
 * hosts, whose order is not judged. */
static int find_racks(doctor *d) {
    int hosts = d->first_comm == MPI_COMM_NULL ? 0 : app_ranks(d->first_comm);
    int code = MPI_Bcast(&hosts, 1, MPI_INT, 0, d->comm);
    if (code != MPI_SUCCESS || hosts < 3)
        return code;
    const int ranks = app_ranks(d->comm);
    COLL_Place *places = malloc((size_t)ranks * sizeof *places);
    d->rack_of = malloc((size_t)ranks * sizeof *d->rack_of);
    if (places && d->rack_of)
        code = COLL_Places(d->comm, places);
    else
        code = MPI_ERR_NO_MEM;
    for (int rank = 0; rank < ranks && code == MPI_SUCCESS; rank++)
        d->rack_of[rank] = places[rank].rack;
    free(places);
    return code;
}

/* Tests the cores, then the network. Ranks that don't measure the network sleep meanwhile, so that
 * they leave the cores to the ranks that do. */
static int test_all(doctor *d) {
    const double nap = 1e-3, longest_nap = 10e-3;
    const bool measures = d->first_comm != MPI_COMM_NULL;
    int code = compute(d);
    if (!measures)
        doctor_watchdog_end();
    else if (code == MPI_SUCCESS && app_ranks(d->first_comm) > 1)
        code = test_network(d);
    return code == MPI_SUCCESS ? app_barrier_asleep(d->comm, nap, longest_nap) : code;
}

/* --- The output --- */

/* Returns the median speed of the hosts' first ranks in the first try; 1 if memory is short. */
static double median_speed(const doctor_job *job) {
    double *values = malloc((size_t)job->hosts * sizeof *values);
    for (int host = 0; values && host < job->hosts; host++)
        values[host] = doctor_job_facts(job, host)->speed[0];
    const double median = values ? app_stats_median(values, job->hosts) : 1;
    free(values);
    return median;
}

/* Writes the interfaces that MPI uses, or "-". */
static void write_interfaces(const doctor_facts *facts, char *text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "-");
    for (int i = 0; i < facts->interface_count && used < size; i++)
        if (facts->interfaces[i].connections > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
                                     facts->interfaces[i].name);
}

static const char *finding_of_host(const doctor_findings *found, int host) {
    for (int i = 0; i < found->count; i++)
        if (doctor_finding_is_about(&found->of[i], host))
            return doctor_kind_name(found->of[i].kind);
    return "";
}

static void print_host(const doctor_job *job, const doctor_findings *found, int host, double speed,
                       FILE *json) {
    const doctor_facts *facts = doctor_job_facts(job, host);
    const char *stands_out = finding_of_host(found, host);
    char interfaces[64];
    const int ranks = doctor_job_ranks(job, host), cores = doctor_cores_count(facts->cores);
    const double relative = 100 * facts->speed[0] / speed,
                 rate = 8e-6 * doctor_host_rate(job, host),
                 latency = 1e6 * doctor_host_latency(job, host),
                 resent = facts->sent > 0 ? 100.0 * (double)facts->resent / (double)facts->sent : 0;
    write_interfaces(facts, interfaces, sizeof interfaces);
    printf("%-16s %5d %6d %5.0f%% %5.0f%%  %-12s", facts->host, ranks, cores, relative,
           100 * facts->share[0], interfaces);
    if (job->pair_count > 0)
        printf(" %8.4g %8.0f %7.2f%%", rate, latency, resent);
    printf("%s%s\n", *stands_out ? "  " : "", stands_out);
    app_json(json, app_json_text("host", facts->host), app_json_integer("ranks", ranks),
             app_json_integer("cores", cores), app_json_number("cpu_limit", facts->limit),
             app_json_number("steps_per_s", facts->speed[0]),
             app_json_number("core_share", facts->share[0]),
             app_json_text("interfaces", interfaces), app_json_number("Mbps", rate),
             app_json_number("latency_us", latency), app_json_number("resent_percent", resent),
             app_json_number("clock_ahead_s", doctor_host_ahead(job, host)));
}

static void print_finding(const doctor_job *job, int nth, const doctor_finding *finding,
                          FILE *json) {
    const char *host = finding->host < 0 ? "" : doctor_job_facts(job, finding->host)->host;
    printf("%d. %s%s\n   to repair it: %s\n", nth,
           finding->certain ? "" : "may be: ", finding->text, finding->remedy);
    app_json(json, app_json_integer("finding", nth),
             app_json_text("kind", doctor_kind_name(finding->kind)),
             app_json_integer("certain", finding->certain),
             app_json_if(finding->host >= 0, app_json_text("host", host)),
             app_json_if(finding->other >= 0,
                         app_json_text("other", finding->other < 0
                                                    ? ""
                                                    : doctor_job_facts(job, finding->other)->host)),
             app_json_text("text", finding->text), app_json_text("remedy", finding->remedy));
}

static void print_all(const doctor *d, const doctor_job *job, FILE *json) {
    static doctor_findings found;
    const double speed = median_speed(job);
    doctor_judge_facts(job, &found);
    doctor_judge_suspects(job, d->suspects, d->suspect_count, d->network.pairs, &found);
    doctor_findings_sort(&found);
    printf("doctor: %d rank%s on %d host%s, examined in %.1f s\n", job->ranks,
           job->ranks == 1 ? "" : "s", job->hosts, job->hosts == 1 ? "" : "s",
           app_seconds() - d->began);
    printf("%-16s %5s %6s %6s %6s  %-12s %8s %8s %8s  %s\n", "host", "ranks", "cores", "speed",
           "share", "interface", "Mbit/s", "us", "resent", "stands out");
    for (int host = 0; host < job->hosts; host++)
        print_host(job, &found, host, speed, json);
    puts(legend);
    if (found.count == 0)
        puts("nothing stands out");
    for (int i = 0; i < found.count && i < SHOWN; i++)
        print_finding(job, i + 1, &found.of[i], json);
    if (found.count > SHOWN)
        printf("and %d more; repair these first\n", found.count - SHOWN);
    doctor_findings_free(&found);
}

/* Sets FIRST, the first rank of each host, from HOST_OF, the host of each rank. Returns the number
 * of hosts. */
static int count_hosts(int ranks, const int host_of[], int first[]) {
    int hosts = 0;
    for (int rank = ranks - 1; rank >= 0; rank--) {
        first[host_of[rank]] = rank;
        hosts = host_of[rank] >= hosts ? host_of[rank] + 1 : hosts;
    }
    return hosts;
}

static bool is_named(const char *variable) {
    const char *value = getenv(variable);
    return value && *value && strncmp(value, "auto", 4) != 0;
}

/* Gathers the facts of all ranks on rank 0, which prints what they mean. */
static void report(doctor *d, const char *json_path) {
    const int ranks = app_ranks(d->comm);
    const bool prints = app_rank(d->comm) == 0;
    app_output json = {.file = NULL};
    doctor_facts *facts = prints ? calloc((size_t)ranks, sizeof *facts) : NULL;
    int *host_of = prints ? calloc(2 * (size_t)ranks, sizeof *host_of) : NULL;
    if (prints && (!facts || !host_of))
        app_refuse(&problem, "out of memory for %d ranks", ranks);
    if (!app_agree(&problem, d->comm))
        return;
    int code = MPI_Gather(&d->facts, (int)sizeof d->facts, MPI_BYTE, facts, (int)sizeof d->facts,
                          MPI_BYTE, 0, d->comm);
    if (code == MPI_SUCCESS)
        code = MPI_Gather(&d->host, 1, MPI_INT, host_of, 1, MPI_INT, 0, d->comm);
    app_mpi(&problem, code);
    if (prints && code == MPI_SUCCESS && app_output_open(&json, json_path, &problem)) {
        doctor_job job = {.ranks = ranks,
                          .facts = facts,
                          .host_of = host_of,
                          .first = host_of + ranks,
                          .rack_of = d->rack_of,
                          .racks_measured =
                              !is_named("COLL_TOPOLOGY") && !is_named("SLURM_TOPOLOGY_ADDR"),
                          .pairs = d->together,
                          .pair_count = d->together_count};
        job.hosts = count_hosts(ranks, host_of, host_of + ranks);
        print_all(d, &job, json.file);
        if (app_output_flush_stdout(&problem))
            app_output_commit(&json, &problem);
    }
    app_output_discard(&json);
    free(facts);
    free(host_of);
}

int doctor_main(int argc, char **argv) {
    static const char program[] = "coll-info doctor";
    const char *json = NULL;
    doctor d = {.first_comm = MPI_COMM_NULL};
    const app_option table[] = {APP_JSON_OPTION(&json)};
    const app_command line = {program, usage, NULL, APP_TABLE(table)};
    if (app_parse(&line, argc, argv, &problem) && json)
        app_output_check(json, &problem);
    /* COLL_Places needs no costs, which libcoll would otherwise measure. */
    setenv("COLL_PROFILE", "built-in", 1);
    doctor_watchdog_start();
    d.comm = app_begin(&argc, &argv, program, &problem);
    d.began = app_seconds();
    doctor_facts_read(&d.facts);
    const doctor_facts before = d.facts;
    int code = find_hosts(&d);
    doctor_watchdog_calm();
    if (code == MPI_SUCCESS)
        code = test_all(&d);
    if (code == MPI_SUCCESS)
        code = find_racks(&d);
    app_mpi(&problem, code);
    app_agree_or_end(d.comm, program, &problem);
    doctor_facts now;
    doctor_facts_read(&now);
    doctor_facts_since(&now, &before);
    memcpy(now.speed, d.facts.speed, sizeof now.speed);
    memcpy(now.share, d.facts.share, sizeof now.share);
    d.facts = now;
    report(&d, json);
    app_agree_or_end(d.comm, program, &problem);
    doctor_watchdog_end();
    free(d.together);
    free(d.rack_of);
    free(d.network.pairs);
    if (d.first_comm != MPI_COMM_NULL)
        MPI_Comm_free(&d.first_comm);
    return app_end(&d.comm);
}
