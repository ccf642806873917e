#include "config.h"

#include "tools/profile/benefit.h"

#include "app/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool read_figure(const char *line, const char *name, double *figure) {
    const char *at = strstr(line, name);
    return at && sscanf(at + strlen(name), "%lf", figure) == 1 && *figure >= 0;
}

static bool read_account(const char *line, benefit_times *times, int *ranks, int *dcps) {
    double numbers[2];
    if (strncmp(line, "coll: account ", strlen("coll: account ")) != 0 ||
        !read_figure(line, " ranks=", &numbers[0]) || !read_figure(line, " dcps=", &numbers[1]) ||
        !read_figure(line, " Tcomp=", &times->computation) ||
        !read_figure(line, " Tcoll=", &times->collectives) ||
        !read_figure(line, " Tpoint=", &times->point_to_point))
        return false;
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
    if (ferror(file))
        app_refuse(problem, "%s: %s", path, strerror(errno));
    if (!standard)
        fclose(file);
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

double benefit_predict(const benefit_times *times, int served, double share) {
    return (1 + 1.0 / served) * times->computation + share * times->collectives +
           times->point_to_point;
}

int benefit_least_served(const benefit_times *times, double share, int most) {
    for (int served = 1; served <= most; served++)
        if ((1 - share) * times->collectives > times->computation / served)
            return served;
    return 0;
}
