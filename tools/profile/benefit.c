/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/benefit.h"

#include "app/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Reads the number after NAME in LINE. Returns false if there is none, or it is negative. */
static bool read_figure(const char *line, const char *name, double *figure) {
    const char *at = strstr(line, name);
    return at && sscanf(at + strlen(name), "%lf", figure) == 1 && *figure >= 0;
}

/* Reads LINE if it is a complete line "coll: account ...". Returns whether LINE is such a line. */
static bool read_account(const char *line, benefit_times *times, int *ranks, int *dcps) {
    benefit_times read;
    double numbers[2];
    const struct {
        const char *name;
        double *figure;
    } figures[] = {
        {" ranks=", &numbers[0]},           {" dcps=", &numbers[1]},
        {" Tcomp=", &read.computation},     {" Tcoll=", &read.collectives},
        {" Tpoint=", &read.point_to_point}, {" Tserved=", &read.served},
        {" Tstarted=", &read.started},      {" Tcpu=", &read.processor},
    };
    if (strncmp(line, "coll: account ", strlen("coll: account ")) != 0 || !strchr(line, '\n'))
        return false;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!read_figure(line, figures[i].name, figures[i].figure))
            return false;
    *times = read;
    *ranks = (int)numbers[0];
    *dcps = (int)numbers[1];
    return true;
}

bool benefit_read_trace(const char *path, benefit_times *times, int *ranks, app_problem *problem) {
    bool standard = strcmp(path, "-") == 0, found = false;
    FILE *file = standard ? stdin : app_files_open(path, problem);
    if (!file)
        return false;
    char line[1024];
    int dcps = 0;
    while (fgets(line, sizeof line, file))
        found = read_account(line, times, ranks, &dcps) || found;
    bool good = !ferror(file) || app_refuse(problem, "%s: %s", path, strerror(errno));
    if (!standard)
        fclose(file);
    if (!good)
        return false;
    if (!found)
        return app_refuse(problem,
                          "%s: no line \"coll: account\"; run the program with COLL_TRACE=1 under "
                          "coll-run",
                          path);
    if (dcps > 0)
        return app_refuse(problem,
                          "%s: this run had %d DCPs already; trace one without (unset COLL_DCP)",
                          path, dcps);
    return true;
}

/* Returns the part of a processor that a rank has while it computes; at most 1. */
static double processor_part(const benefit_times *times) {
    bool shared = times->processor < times->computation;
    return shared ? times->processor / times->computation : 1;
}

/* Returns the factor by which the computation takes longer if one rank in SERVED + 1 is a DCP. */
static double computation_growth(const benefit_times *times, int served) {
    double grown = (1 + 1.0 / served) * processor_part(times);
    return grown > 1 ? grown : 1;
}

/* Returns the seconds of nonblocking collectives that COMPUTATION seconds do not hide. */
static double exposed_nonblocking(const benefit_times *times, double computation,
                                  benefit_shares shares) {
    double hidden = shares.started * times->started;
    double longer = shares.blocking * times->started - computation;
    return longer > hidden ? longer : hidden;
}

double benefit_predict(const benefit_times *times, int served, benefit_shares shares) {
    double computation = computation_growth(times, served) * times->computation;
    double others = times->collectives - times->served - times->started;
    return computation + shares.blocking * times->served +
           exposed_nonblocking(times, computation, shares) + others + times->point_to_point;
}

benefit_shares benefit_by_paper(const benefit_times *times) {
    const double saved = 0.3; /* of the time of a blocking collective */
    double p = processor_part(times);
    return (benefit_shares){1 - p * p * saved, 1 - p};
}

benefit_times benefit_overlapping(const benefit_times *times) {
    benefit_times overlapping = *times;
    overlapping.started += times->served;
    overlapping.served = 0;
    return overlapping;
}

int benefit_least_served(const benefit_times *times, benefit_shares shares, int most) {
    double now = benefit_total(times);
    for (int served = 1; served <= most; served++)
        if (benefit_predict(times, served, shares) < now)
            return served;
    return 0;
}
