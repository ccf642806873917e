/* What COLL_WATCH and its like ask for. */
#ifndef COLL_WATCH_SETTINGS_H
#define COLL_WATCH_SETTINGS_H

#include <stdbool.h>

typedef struct watch_settings {
    double seconds; /* 0: nothing is watched */
    bool check, abort;
    bool by_files;                            /* watchers talk through files in DIRECTORY */
    char directory[256];                      /* the one that is given, or the current one, or "" */
    char json[256], trace[256], picture[256]; /* files, or "" */
    char problem[256];                        /* what is wrong with them, or "" */
} watch_settings;

/* From the environment. False: PROBLEM says why. */
bool watch_settings_read(watch_settings *settings);

#endif
