/* SPDX-License-Identifier: BSD-3-Clause */
/* The component: its parameters, and the decision whether it takes part at all. */
#include "ompi/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int libcoll_priority = 90;
bool libcoll_strict = true, libcoll_any_network;
const COLL_Transport *libcoll_way;
static bool enabled = true, one_host;
static int gpu = -1;

libcoll_counts libcoll_program_counts;

/* A parameter that is a setting of libcoll under another name. */
typedef struct setting {
    const char *parameter, *variable;
    const char *help; /* NULL for the setting of an operation */
    char *value;
} setting;

static setting settings[] = {
#define SETTING(operation, environment) {.parameter = #operation, .variable = environment},
    LIBCOLL_OPERATIONS(SETTING)
#undef SETTING
        {"topology", "COLL_TOPOLOGY",
         "Which rack and site each host is in: a file in the syntax of Slurm's topology.conf, or "
         "auto",
         NULL},
    {"profile", "COLL_PROFILE",
     "The cost of messages: a file that coll-profile has written, or built-in", NULL},
    {"reproducible", "COLL_REPRODUCIBLE",
     "1: reductions give the same bits whatever the placement and the network", NULL},
    {"learn", "COLL_LEARN",
     "Whether calls try likely algorithms at first: 0: none do; 1: those that move data; all: "
     "reductions, too",
     NULL},
    {"timeout", "COLL_TIMEOUT",
     "Seconds without progress after which a call fails and names the silent ranks; 0: never",
     NULL},
    {"trace", "COLL_TRACE", "1: a line on stderr for each call", NULL},
    {"report", "COLL_REPORT",
     "A report in MPI_Finalize of the calls, their time, what libcoll saved, and who arrives last: "
     "0: off; 1: on stderr; FILE.txt, FILE.json or FILE.svg",
     NULL},
    {"record", "COLL_RECORD",
     "A directory in which each rank records its collectives, for coll-info replay", NULL},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* --- Parameters --- */

static const mca_base_component_t *own_component(void) {
    return &mca_coll_libcoll_component.collm_version;
}

static void add_switch(const char *name, const char *help, bool *value) {
    (void)mca_base_component_var_register(own_component(), name, help, MCA_BASE_VAR_TYPE_BOOL, NULL,
                                          0, 0, OPAL_INFO_LVL_2, MCA_BASE_VAR_SCOPE_READONLY,
                                          value);
}

static void add_setting(setting *one) {
    char help[300];
    if (one->help)
        snprintf(help, sizeof help, "%s. The environment variable %s takes precedence", one->help,
                 one->variable);
    else
        snprintf(help, sizeof help,
                 "How libcoll runs %s: auto, the fastest by prediction; native, not at all; or "
                 "NAME[:PARAMETER=VALUE,...] (coll-info lists them). The environment variable %s "
                 "takes precedence",
                 one->parameter, one->variable);
    (void)mca_base_component_var_register(own_component(), one->parameter, help,
                                          MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_2,
                                          MCA_BASE_VAR_SCOPE_READONLY, &one->value);
}

static void add_counter(const char *kind, const char *operation, const char *help,
                        unsigned long *count) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s", kind, operation);
    (void)mca_base_component_pvar_register(
        own_component(), name, help, OPAL_INFO_LVL_4, MCA_BASE_PVAR_CLASS_COUNTER,
        MCA_BASE_VAR_TYPE_UNSIGNED_LONG, NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
        MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL, count);
}

static int add_parameters(void) {
    (void)mca_base_component_var_register(
        own_component(), "priority", "Priority of the component: the highest one runs an operation",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_2, MCA_BASE_VAR_SCOPE_READONLY,
        &libcoll_priority);
    add_switch("enable", "0: libcoll takes no part", &enabled);
    add_switch("strict", "1: a wrong setting of libcoll ends the job in MPI_Init; 0: it is ignored",
               &libcoll_strict);
    add_switch("any_network",
               "1: takes part over any network; 0: only over TCP and shared memory, for which it "
               "is made",
               &libcoll_any_network);
    add_switch("one_host",
               "1: takes part on communicators within one host, too, where the MPI library's own "
               "is as fast: for tests",
               &one_host);
    (void)mca_base_component_var_register(
        own_component(), "gpu",
        "Whether buffers may be in the memory of a GPU, which libcoll can't read: if so, the MPI "
        "library runs all collectives. -1: they may be if Open MPI 4.1 was built for CUDA and the "
        "host has its driver, or if Open MPI 5.0 has found a GPU; 0: they never are; 1: they may "
        "be",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_2, MCA_BASE_VAR_SCOPE_READONLY, &gpu);
    for (int i = 0; i < SETTINGS; i++)
        add_setting(&settings[i]);
#define COUNTERS(operation, variable)                                                              \
    add_counter("served", #operation, "Calls of " #operation " and its variants that libcoll ran", \
                &libcoll_program_counts.served[LIBCOLL_##operation]);                              \
    add_counter("passed", #operation,                                                              \
                "Calls of " #operation " and its variants that libcoll left to another component", \
                &libcoll_program_counts.passed[LIBCOLL_##operation]);
    LIBCOLL_OPERATIONS(COUNTERS)
#undef COUNTERS
    return OMPI_SUCCESS;
}

/* --- Whether it takes part --- */

/* Returns whether this rank prints the messages for the job. Only one does. */
static bool is_speaker(void) {
    return OMPI_PROC_MY_NAME->vpid == 0;
}

/* Returns the same as is_speaker, and works with any release of Open MPI. */
static bool is_speaker_of_any_release(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMIX_RANK");
    return !rank || strcmp(rank, "0") == 0;
}

/*
 * Sets the environment variables of the parameters. Variables that are set already take precedence,
 * because the environment is closer to the program.
 */
static void export_parameters(void) {
    for (int i = 0; i < SETTINGS; i++) {
        const char *now = getenv(settings[i].variable);
        if (settings[i].value && *settings[i].value && !(now && *now))
            (void)setenv(settings[i].variable, settings[i].value, 1);
    }
}

/*
 * Removes the first setting that TEXT names from the environment. Returns false if TEXT names none
 * or if that setting is not set.
 */
static bool unset_first_setting_in(const char *text) {
    const char *name = strstr(text, "COLL_");
    char variable[64];
    if (!name || sscanf(name, "%63[A-Z_]", variable) != 1 || !getenv(variable))
        return false;
    return unsetenv(variable) == 0;
}

/*
 * Checks this process's settings. If one is wrong, the speaker prints why and, if libcoll_strict,
 * ends the job; otherwise the process removes the wrong setting or, if none is found, disables
 * libcoll. COLL_Setup_job later makes the settings of the job's rank 0, the speaker, valid for all.
 */
static void check_settings(void) {
    char text[MPI_MAX_ERROR_STRING];
    while (COLL_Check_settings(text, sizeof text) != MPI_SUCCESS) {
        if (is_speaker())
            fprintf(stderr, "libcoll: %s%s\n", libcoll_strict ? "" : "left out: ", text);
        if (is_speaker() && libcoll_strict)
            ompi_rte_abort(1, NULL);
        if (libcoll_strict)
            return;
        if (!unset_first_setting_in(text)) {
            (void)setenv("COLL_DISABLE", "1", 1);
            return;
        }
    }
}

static bool is_set(const char *variable) {
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0") != 0;
}

static void at_end_of_init(int argc, char **argv, int requested, int *provided) {
    (void)argc, (void)argv, (void)requested, (void)provided;
    libcoll_set_up_job();
}

/* Registers a function that Open MPI calls at the end of MPI_Init, through its framework "hook". */
static int register_init_hook(void) {
    static ompi_hook_base_component_t hook = {
        .hookm_version = {OMPI_HOOK_BASE_VERSION_1_0_0, .mca_component_name = "libcoll"},
        .hookm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
        .hookm_mpi_init_bottom = at_end_of_init,
    };
    return ompi_hook_base_register_callbacks(&hook);
}

/* Publishes this process's data early enough for the exchange in MPI_Init. */
static int open_component(void) {
    char why[200];
    if (!enabled)
        return OMPI_SUCCESS;
    libcoll_way = libcoll_transport(LIBCOLL_TAGS_COMPONENT, why, sizeof why);
    if (!libcoll_way) {
        if (is_speaker_of_any_release())
            fprintf(stderr, "libcoll: its component stands aside: %s\n", why);
        return OMPI_ERR_NOT_AVAILABLE;
    }
    export_parameters();
    libcoll_tell(&(libcoll_word){.gpu = gpu >= 0 ? gpu > 0 : libcoll_has_gpu(),
                                 .takes_part = !is_set("COLL_DISABLE"),
                                 .one_host = one_host,
                                 .reports = is_set("COLL_REPORT"),
                                 .records = is_set("COLL_RECORD")});
    return OMPI_SUCCESS;
}

static int init_query(bool progress_threads, bool thread_multiple) {
    (void)progress_threads, (void)thread_multiple;
    if (!libcoll_way)
        return OMPI_ERR_NOT_AVAILABLE;
    libcoll_sets = COLL_Sets();
    check_settings();
    return register_init_hook();
}

const mca_coll_base_component_t mca_coll_libcoll_component = {
    .collm_version = {LIBCOLL_COLL_VERSION, .mca_component_name = "libcoll",
                      MCA_BASE_MAKE_VERSION(component, COLL_MAJOR, COLL_MINOR, COLL_RELEASE),
                      .mca_open_component = open_component,
                      .mca_register_component_params = add_parameters},
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = libcoll_comm_query,
};
