/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/rank_info.h"

#include "lib/base/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns the number of the whole job's processes on this node according to the launcher, 0 if
 * unknown.
 */
static int job_processes(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                            "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        int processes = value ? atoi(value) : 0;
        if (processes > 0)
            return processes;
    }
    return 0;
}

/*
 * Writes the switches above this node to SWITCHES: "s4.s0" for SLURM_TOPOLOGY_ADDR=s4.s0.node7, as
 * many as SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node has. SWITCHES must be zero, and remains ""
 * if there are none.
 */
static void slurm_switches(char switches[COLL_RANK_INFO_ADDRESS]) {
    static const char word[] = "switch.";
    const char *address = getenv("SLURM_TOPOLOGY_ADDR");
    const char *pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    if (!address || !pattern || strlen(address) >= COLL_RANK_INFO_ADDRESS)
        return;
    size_t length = 0;
    for (; strncmp(pattern, word, strlen(word)) == 0; pattern += strlen(word)) {
        size_t name = strcspn(address + length, ".");
        if (!address[length + name])
            return;
        length += name + 1;
    }
    if (length)
        memcpy(switches, address, length - 1); /* without the last dot */
}

/* The boot id of the system, which is unique; "" on systems other than Linux. */
static char boot_id[64];

static void read_boot_id(void) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && !fgets(boot_id, sizeof boot_id, file))
        *boot_id = '\0';
    if (file)
        fclose(file);
}

/* Returns a hash of the boot id and the host name: containers may share a boot id, and systems may
 * share a host name. */
static uint64_t hash_node(const char *host) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_boot_id);
    uint64_t system = coll_hash(COLL_HASH_NOTHING, boot_id, strlen(boot_id));
    return coll_hash(system, host, strlen(host));
}

/* Returns the bytes of the mask up to the last word with a core. */
static size_t mask_bytes(const coll_cores *cores) {
    size_t words = COLL_CORES_WORDS;
    while (words > 0 && cores->bound[words - 1] == 0)
        words--;
    return words * sizeof *cores->bound;
}

int coll_rank_info_make(coll_rank_info *report) {
    const coll_cores *cores = coll_cores_get();
    int length;
    *report = (coll_rank_info){
        .numa = cores->numa, .cores = cores->node, .quota = cores->quota, .job = job_processes()};
    int code = PMPI_Get_processor_name(report->text, &length);
    if (code != MPI_SUCCESS)
        return code;
    report->node = hash_node(report->text);
    char *switches = report->text + length + 1;
    slurm_switches(switches);
    char *mask = switches + strlen(switches) + 1;
    memcpy(mask, cores->bound, mask_bytes(cores));
    report->bytes = (int)(mask - report->text) + (int)mask_bytes(cores);
    return MPI_SUCCESS;
}

void coll_rank_info_add_cores(const coll_rank_info *report, uint64_t bound[COLL_CORES_WORDS]) {
    const char *switches = report->text + strlen(report->text) + 1;
    const char *mask = switches + strlen(switches) + 1, *end = report->text + report->bytes;
    for (uint64_t word; mask < end; mask += sizeof word, bound++) {
        memcpy(&word, mask, sizeof word);
        *bound |= word;
    }
}
