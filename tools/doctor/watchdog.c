/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/doctor/watchdog.h"

#include "app/clocks.h"
#include "app/connections.h"
#include "tools/doctor/facts.h"

#include <arpa/inet.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Seconds without progress after which the thread begins to look for connections without an answer
 * (BEGIN), ends the program and names such a connection (PATIENCE), or ends the program though it
 * has found none (LONGER). So a rank that can name a connection reports first. The thread looks
 * every PAUSE seconds.
 */
static const double BEGIN = 0.5, PATIENCE = 8, LONGER = 10, PAUSE = 0.1;

/* Data that was sent again this often in a row does not arrive. */
enum { OFTEN = 3 };

static pthread_t thread;
static atomic_bool runs, ends;
static atomic_int steps;

static void write_address(uint32_t address, char text[INET_ADDRSTRLEN]) {
    inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

/* Returns the interface with ADDRESS; NULL: there is none. */
static const doctor_interface *interface_of(const doctor_facts *facts, uint32_t address) {
    for (int i = 0; i < facts->interface_count; i++)
        if (facts->interfaces[i].address == address)
            return &facts->interfaces[i];
    return NULL;
}

/* Names the connection C, which gets no answer, and ends the program. */
static void report(const app_connection *c) {
    static doctor_facts facts;
    char own[INET_ADDRSTRLEN], peer[INET_ADDRSTRLEN];
    doctor_facts_read(&facts);
    const doctor_interface *interface = interface_of(&facts, c->own);
    write_address(c->own, own);
    write_address(c->peer, peer);
    const char *name = interface ? interface->name : "?",
               *state = interface && !interface->running ? ", which has no link" : "";
    if (c->connecting)
        fprintf(
            stderr,
            "coll-info: doctor: host %s: %s does not answer when it is called from %s (%s%s); look "
            "for a dead interface, a firewall or a missing route, or name a network that works: "
            "--mca btl_tcp_if_include\n",
            facts.host, peer, own, name, state);
    else
        fprintf(
            stderr,
            "coll-info: doctor: host %s: segments of %d bytes from %s (%s%s) don't reach %s, sent "
            "%d times; give all hosts and switches the same MTU, or look for a dead link\n",
            facts.host, c->segment, own, name, state, peer, c->unanswered + 1);
    _exit(1);
}

/*
 * Sets *LOST to a connection that gets no answer. If there is none, *LOST keeps its value: the
 * kernel may have given up the connection that is the cause.
 */
static void look(app_connection *lost) {
    static app_connection list[APP_CONNECTIONS];
    const int count = app_connections_read(list);
    for (int i = 0; i < count; i++)
        if (list[i].peer && (list[i].connecting || list[i].unanswered >= OFTEN))
            *lost = list[i];
}

/* Measures the time by counting its own sleeps, so that time in which the whole job was stopped
 * does not count. */
static void *watch(void *unused) {
    double waited = 0;
    int seen = -1, begun = 0;
    app_connection lost = {.peer = 0};
    while (!ends) {
        app_sleep(PAUSE);
        waited += PAUSE;
        if (!begun)
            MPI_Initialized(&begun);
        if (!begun || steps != seen) {
            waited = 0;
            seen = steps;
            lost.peer = 0;
        }
        if (waited > BEGIN)
            look(&lost);
        if (waited > PATIENCE && lost.peer)
            report(&lost);
        if (waited > LONGER) {
            fprintf(
                stderr,
                "coll-info: doctor: no message has come for %.0f s, and no connection says why; "
                "find out by coll-run --watch 10 -- coll-info doctor\n",
                LONGER);
            _exit(1);
        }
    }
    return unused;
}

void doctor_watchdog_start(void) {
    runs = pthread_create(&thread, NULL, watch, NULL) == 0;
}

void doctor_watchdog_calm(void) {
    steps++;
}

void doctor_watchdog_end(void) {
    ends = true;
    if (runs)
        pthread_join(thread, NULL);
    runs = false;
}
