/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/settings.h"

#include "lib/base/c_locale.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEFAULT_SECONDS = 60, LEAST = 0.1, MOST = 1e6;

static const char *value_of(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

/* Reads one word of COLL_WATCH. Returns false if it is invalid. */
static bool read_word(const char *word, watch_settings *settings) {
    double seconds;
    if (strcmp(word, "check") == 0) {
        settings->check = true;
        return true;
    }
    if (!coll_c_locale_number(word, &seconds) ||
        (seconds != 0 && !(seconds >= LEAST && seconds <= MOST)))
        return false;
    settings->seconds = seconds;
    return true;
}

static bool read_watch(const char *text, watch_settings *settings) {
    char words[64], *rest = NULL;
    bool good = strlen(text) < sizeof words;
    settings->seconds = *text ? DEFAULT_SECONDS : 0;
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok_r(words, ",", &rest); word && good; word = strtok_r(NULL, ",", &rest))
        good = read_word(word, settings);
    if (!good)
        snprintf(
            settings->problem, sizeof settings->problem,
            "COLL_WATCH=%.60s: must be seconds from 0.1 to 1000000, or 0 for off, or check, or "
            "both, such as 60,check",
            text);
    return good;
}

static bool read_text(const char *name, char *text, size_t size, watch_settings *settings) {
    if (strlen(value_of(name)) >= size) {
        snprintf(settings->problem, sizeof settings->problem,
                 "%s: is too long; at most %zu bytes are possible", name, size - 1);
        return false;
    }
    snprintf(text, size, "%s", value_of(name));
    return true;
}

static bool read_file(const char *name, char path[256], watch_settings *settings) {
    return read_text(name, path, 256, settings);
}

/* Stores an absolute path, since other ranks may have other current directories. */
static bool read_directory(watch_settings *settings) {
    char whole[PATH_MAX];
    const char *given = value_of("COLL_WATCH_DIR");
    settings->by_files = *given != '\0';
    bool found = realpath(*given ? given : ".", whole) && strlen(whole) < 256;
    if (found)
        snprintf(settings->directory, sizeof settings->directory, "%.255s", whole);
    else if (*given)
        snprintf(settings->problem, sizeof settings->problem,
                 "COLL_WATCH_DIR=%.120s: must be a directory, which all hosts share", given);
    return found || !*given;
}

void watch_settings_read(watch_settings *settings) {
    *settings = (watch_settings){.seconds = 0};
    const char *abort_text = value_of("COLL_WATCH_ABORT");
    settings->abort = strcmp(abort_text, "1") == 0;
    if (!settings->abort && *abort_text && strcmp(abort_text, "0") != 0) {
        snprintf(settings->problem, sizeof settings->problem,
                 "COLL_WATCH_ABORT=%.60s: must be 0 or 1", abort_text);
        return;
    }
    (void)(read_watch(value_of("COLL_WATCH"), settings) && read_directory(settings) &&
           read_text("COLL_WATCH_ON_HANG", settings->on_hang, sizeof settings->on_hang, settings) &&
           read_file("COLL_WATCH_JSON", settings->json, settings) &&
           read_file("COLL_WATCH_TRACE", settings->trace, settings) &&
           read_file("COLL_WATCH_SVG", settings->picture, settings));
}
