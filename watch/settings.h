/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings in COLL_WATCH and COLL_WATCH_*. */
#ifndef COLL_WATCH_SETTINGS_H
#define COLL_WATCH_SETTINGS_H

#include <stdbool.h>

typedef struct watch_settings {
    double seconds; /* 0 if nothing is watched */
    bool check, abort;
    bool by_files;                            /* watchers communicate through files in DIRECTORY */
    char directory[256];                      /* the given or the current directory, or "" */
    char json[256], trace[256], picture[256]; /* file names, or "" */
    char on_hang[1024];                       /* "abort", a command of sh(1), or "" */
    char problem[256];                        /* what is wrong with the settings, or "" */
} watch_settings;

/* Reads the settings from the environment. PROBLEM says why they are invalid, if they are. */
void watch_settings_read(watch_settings *settings);

#endif
