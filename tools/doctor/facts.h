/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank finds out about its host and its cores there, without sending messages. */
#ifndef COLL_TOOLS_DOCTOR_FACTS_H
#define COLL_TOOLS_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stdint.h>

enum { DOCTOR_NAME = 64, DOCTOR_INTERFACES = 8, DOCTOR_CORE_WORDS = 16, DOCTOR_TRIES = 3 };

/* A network interface with an IPv4 address, other than loopback. */
typedef struct doctor_interface {
    char name[16];
    uint32_t address; /* in network byte order */
    int mtu;
    int megabits;    /* Mbit/s that the driver names; 0: none */
    int connections; /* number of this process's TCP connections over it to other hosts */
    bool running;    /* it has a link */
    bool bridge;     /* for containers or virtual machines of this host */
    uint64_t errors; /* packets that it has lost because of errors */
} doctor_interface;

/* Sent as it is in memory, so all hosts must have the same kind of processor. */
typedef struct doctor_facts {
    char host[DOCTOR_NAME];
    char loopback[16];                 /* the address of HOST if it is 127.x.x.x, or "" */
    uint64_t cores[DOCTOR_CORE_WORDS]; /* one bit for each core that this rank may use */
    double limit;                      /* processors that control groups grant; 0: no limit */
    double speed[DOCTOR_TRIES];        /* of a fixed computation: steps in a second on a core */
    double share[DOCTOR_TRIES];        /* share of that computation's time in which the rank had a
                                          core */
    uint64_t sent, resent;             /* TCP segments of the host: /proc/net/snmp */
    int interface_count;
    doctor_interface interfaces[DOCTOR_INTERFACES];
} doctor_facts;

/* Reads the facts of this process and its host, except SPEED and SHARE. */
void doctor_facts_read(doctor_facts *facts);

/* Computes for some milliseconds and sets SPEED and SHARE of try number NTH. */
void doctor_facts_compute(doctor_facts *facts, int nth);

/* Returns how many cores CORES has. */
int doctor_cores_count(const uint64_t cores[DOCTOR_CORE_WORDS]);

/* Subtracts the counters of EARLIER from those of FACTS. */
void doctor_facts_since(doctor_facts *facts, const doctor_facts *earlier);

#endif
