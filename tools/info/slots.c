/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/info/slots.h"

#include "app/files.h"
#include "app/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MOST = 1 << 20 };

static bool add_slots(slot_list *slots, const char *host, int count, COLL_Cluster *cluster,
                      app_problem *problem) {
    if (count > SLOTS_MOST - cluster->slot_count)
        return app_refuse(problem, "there are more than %d slots", SLOTS_MOST);
    const char **more = realloc(slots->hosts, (size_t)(cluster->slot_count + count) * sizeof *more);
    if (!more)
        return app_refuse(problem, "out of memory for %d slots", cluster->slot_count + count);
    cluster->slots = slots->hosts = more;
    for (int i = 0; i < count; i++)
        more[cluster->slot_count++] = host;
    return true;
}

/* Reads TEXT, a line of the file at PATH without its comment: "n3 slots=4 max_slots=8". */
static bool read_line(slot_list *slots, const char *path, int line, char *text,
                      COLL_Cluster *cluster, app_problem *problem) {
    const int each = cluster->ranks_per_host;
    char *rest, *host = strtok_r(text, " \t\r\n", &rest);
    int64_t count = 1;
    if (!host)
        return true;
    for (char *word; (word = strtok_r(NULL, " \t\r\n", &rest));)
        if (strncmp(word, "slots=", strlen("slots=")) == 0 &&
            !app_parse_integer(word + strlen("slots="), 1, SLOTS_MOST, &count))
            return app_refuse(problem,
                              "hostfile %s, line %d: '%s' is no number of slots from 1 to %d", path,
                              line, word, SLOTS_MOST);
    return add_slots(slots, host, each ? each : (int)count, cluster, problem);
}

bool slots_read(const char *path, slot_list *slots, COLL_Cluster *cluster, app_problem *problem) {
    enum { MOST = 16 << 20 };
    FILE *file = path ? app_files_open(path, problem) : NULL;
    if (!file)
        return !path;
    slots->text = malloc(MOST);
    const size_t length = slots->text ? fread(slots->text, 1, MOST - 1, file) : 0;
    const bool read = slots->text && feof(file);
    fclose(file);
    if (!read)
        return app_refuse(problem, "hostfile %s can't be read, or is longer than 16 MB", path);
    slots->text[length] = '\0';
    bool good = true;
    int line = 0;
    for (char *text = slots->text, *next; text && good; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        text[strcspn(text, "#")] = '\0';
        good = read_line(slots, path, ++line, text, cluster, problem);
    }
    return good &&
           (cluster->slot_count > 0 || app_refuse(problem, "hostfile %s names no hosts", path));
}

static bool is_of_record(const char *name) {
    return strncmp(name, "rank.", strlen("rank.")) == 0;
}

bool slots_check_output(const char *name, const char *path, const char *directory,
                        const char *hostfile, const COLL_Cluster *cluster, app_problem *problem) {
    const app_file_use files[] = {{APP_FILE_WRITTEN, name, &path, 1, NULL},
                                  {APP_FILE_READ, "DIR", &directory, 1, is_of_record},
                                  {APP_FILE_READ, "--hostfile", &hostfile, 1, NULL},
                                  {APP_FILE_READ, "--topology", &cluster->topology, 1, NULL},
                                  {APP_FILE_READ, "--profile", &cluster->profile, 1, NULL}};
    return app_files_check(files, sizeof files / sizeof *files, problem);
}

void slots_free(slot_list *slots) {
    free(slots->hosts);
    free(slots->text);
}
