/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delay sites MATRIX REPORT DEVICE: emulates the wide area between the sites of a netlab lab. Reads
 * IPv4 packets from the TUN device DEVICE, holds each for the one-way latency from its source's
 * site to its destination's, and writes it back. Site S has the addresses 10.77.S.*.
 *
 * delay links MATRIX REPORT DEVICE...: emulates the links of a netlab lab of racks. Reads Ethernet
 * frames from the TAP devices, holds each for the latency of the first site to itself, and writes
 * it back to its device.
 *
 * MATRIX has the number of sites N, then N rows (from) of N latencies (to) in nanoseconds. On
 * SIGHUP the program reads it again and writes REPORT, whose lines have a name and a number. If the
 * new matrix is invalid, it keeps the old one. The program goes to the background, and prints
 * nothing, when the devices are open and the matrix is valid. Otherwise it prints the error and
 * exits with 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_SITES = 250,
    MOST_DEVICES = 250,
    MOST_BYTES = 1 << 17, /* in one read: the kernel's longest packet before segmentation */
    MOST_HELD = 1 << 16,  /* packets at a time: 65,536 of 1,500 bytes are 8 s at 100 Mbit/s */
    BATCH = 64            /* packets read from a device before packets that are due are sent */
};

typedef struct packet {
    int device; /* the packet came from this device and is written back to it */
    size_t bytes;
    unsigned char data[];
} packet;

/* The place of a held packet in the queue. Packets that are due together leave in order of arrival.
 */
typedef struct place {
    uint64_t due, arrival;
    packet *packet;
} place;

typedef struct delayer {
    int devices[MOST_DEVICES], timer, signals;
    int device_count;
    bool
        links; /* true if devices carry Ethernet frames of links, false for packets between sites */
    const char *matrix_file, *report_file;
    size_t sites;
    uint64_t *latency; /* sites x sites, row = from */
    place *queue;      /* a heap, the first to leave on top */
    size_t held;
    uint64_t armed; /* the time at which the timer expires; 0 if it is off */
    uint64_t wakes; /* ns: the median time from the timer's expiry until this program runs */
    uint64_t arrivals, released, dropped_full, dropped_unroutable, dropped_device, loads, refusals;
} delayer;

static void complain(const char *what, const char *name) {
    fprintf(stderr, "delay: %s %s: %s\n", what, name, strerror(errno));
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail: the clock exists, the address is good */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool leaves_before(const place *a, const place *b) {
    return a->due != b->due ? a->due < b->due : a->arrival < b->arrival;
}

static void queue_push(delayer *d, place new) {
    size_t i = d->held++;
    for (; i > 0 && leaves_before(&new, &d->queue[(i - 1) / 2]); i = (i - 1) / 2)
        d->queue[i] = d->queue[(i - 1) / 2];
    d->queue[i] = new;
}

static packet *queue_pop(delayer *d) {
    packet *first = d->queue[0].packet;
    place last = d->queue[--d->held];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < d->held; i = child) {
        if (child + 1 < d->held && leaves_before(&d->queue[child + 1], &d->queue[child]))
            child++;
        if (!leaves_before(&d->queue[child], &last))
            break;
        d->queue[i] = d->queue[child];
    }
    d->queue[i] = last;
    return first;
}

/* Reads a matrix, which the caller frees. If it is invalid, prints why on stderr and returns NULL.
 */
static uint64_t *matrix_read(const char *name, size_t *sites) {
    FILE *file = fopen(name, "r");
    if (!file) {
        complain("cannot open", name);
        return NULL;
    }
    uint64_t *latency = NULL;
    size_t n, filled = 0;
    if (fscanf(file, "%zu", &n) == 1 && n > 0 && n <= MOST_SITES)
        latency = malloc(n * n * sizeof *latency);
    while (latency && filled < n * n && fscanf(file, "%" SCNu64, &latency[filled]) == 1)
        filled++;
    fclose(file);
    if (!latency || filled < n * n) {
        fprintf(stderr, "delay: %s is not a matrix of latencies\n", name);
        free(latency);
        return NULL;
    }
    *sites = n;
    return latency;
}

static bool matrix_load(delayer *d) {
    size_t sites;
    uint64_t *latency = matrix_read(d->matrix_file, &sites);
    if (!latency)
        return false;
    free(d->latency);
    d->latency = latency;
    d->sites = sites;
    d->loads++;
    return true;
}

/* Replaces the report in one step, so that a reader sees all of it or none. */
static void report_write(const delayer *d) {
    char name[4096];
    if (snprintf(name, sizeof name, "%s.new", d->report_file) >= (int)sizeof name)
        return;
    FILE *file = fopen(name, "w");
    if (!file)
        return; /* netlab, which waits for the report, fails after a timeout */
    fprintf(file,
            "loads %" PRIu64 "\nrefusals %" PRIu64 "\nheld %zu\narrivals %" PRIu64
            "\nreleased %" PRIu64 "\ndropped_full %" PRIu64 "\ndropped_unroutable %" PRIu64
            "\ndropped_device %" PRIu64 "\nwakes %" PRIu64 "\n",
            d->loads, d->refusals, d->held, d->arrivals, d->released, d->dropped_full,
            d->dropped_unroutable, d->dropped_device, d->wakes);
    if (fclose(file) == 0)
        rename(name, d->report_file);
}

/* Gets the latency of a packet of BYTES at DATA. Returns false if it is not between two sites. */
static bool latency_of(const delayer *d, const unsigned char *data, size_t bytes,
                       uint64_t *latency) {
    static const unsigned char net[] = {10, 77};
    const unsigned char *from = data + 12, *to = data + 16; /* in the IPv4 header */
    *latency = d->latency[0];
    if (d->links)
        return true;
    if (bytes < 20 || data[0] >> 4 != 4)
        return false;
    if (memcmp(from, net, sizeof net) != 0 || memcmp(to, net, sizeof net) != 0)
        return false;
    if (from[2] >= d->sites || to[2] >= d->sites)
        return false;
    *latency = d->latency[from[2] * d->sites + to[2]];
    return true;
}

/*
 * Copies a packet that was read from DEVICE. Returns NULL if MOST_HELD packets are held, or memory
 * is short.
 */
static packet *packet_create(const delayer *d, int device, const unsigned char *data,
                             size_t bytes) {
    packet *p = d->held < MOST_HELD ? malloc(sizeof *p + bytes) : NULL;
    if (!p)
        return NULL;
    p->device = device;
    p->bytes = bytes;
    memcpy(p->data, data, bytes);
    return p;
}

/* Reads one packet from a device. Returns false if there is none. */
static bool packet_take(delayer *d, int device) {
    static unsigned char data[MOST_BYTES];
    ssize_t bytes = read(device, data, sizeof data);
    uint64_t latency;
    if (bytes < 0)
        return false;
    d->arrivals++;
    if (!latency_of(d, data, (size_t)bytes, &latency)) {
        d->dropped_unroutable++;
        return true;
    }
    uint64_t due = now() + latency;
    packet *p = packet_create(d, device, data, (size_t)bytes);
    if (p)
        queue_push(d, (place){due, d->arrivals, p});
    else
        d->dropped_full++;
    return true;
}

/*
 * Returns how long before its time a packet is released. This program wakes late twice for each
 * packet: when the packet arrives and when it is due.
 */
static uint64_t lead(const delayer *d) {
    return 2 * d->wakes;
}

/* Moves the median a small step towards the latest delay of a wake-up, so that a long one hardly
 * changes it. */
static void note_wake(delayer *d) {
    const uint64_t step = 250; /* ns */
    uint64_t late = now() - d->armed;
    if (late > d->wakes)
        d->wakes += step;
    else if (d->wakes >= step)
        d->wakes -= step;
}

static void release_due(delayer *d) {
    while (d->held > 0 && d->queue[0].due <= now() + lead(d)) {
        packet *p = queue_pop(d);
        if (write(p->device, p->data, p->bytes) == (ssize_t)p->bytes)
            d->released++;
        else
            d->dropped_device++;
        free(p);
    }
}

/* Sets the timer to the time at which the next packet is due. */
static bool timer_arm(delayer *d) {
    uint64_t at = d->held > 0 ? d->queue[0].due - lead(d) : 0;
    if (at == d->armed)
        return true;
    d->armed = at;
    struct itimerspec ring = {
        .it_value = {.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)}};
    return timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &ring, NULL) == 0;
}

/* Returns true on SIGTERM. */
static bool signal_take(delayer *d) {
    struct signalfd_siginfo signal;
    if (read(d->signals, &signal, sizeof signal) != (ssize_t)sizeof signal)
        return false;
    if (signal.ssi_signo == SIGTERM)
        return true;
    if (!matrix_load(d))
        d->refusals++;
    report_write(d);
    return false;
}

/* Runs until SIGTERM or until the devices are removed; returns the exit status. */
static int delay_packets(delayer *d) {
    struct pollfd files[2 + MOST_DEVICES] = {{d->timer, POLLIN, 0}, {d->signals, POLLIN, 0}};
    for (int i = 0; i < d->device_count; i++)
        files[2 + i] = (struct pollfd){d->devices[i], POLLIN, 0};
    for (;;) {
        if (poll(files, 2 + (nfds_t)d->device_count, -1) < 0 && errno != EINTR)
            return 1;
        if (files[2].revents & (POLLERR | POLLHUP | POLLNVAL))
            return 0; /* the lab was taken down */
        if (files[1].revents && signal_take(d))
            return 0;
        uint64_t rings;
        if (files[0].revents && read(d->timer, &rings, sizeof rings) > 0) {
            note_wake(d);
            d->armed = 0;
        }
        for (int i = 0; i < d->device_count; i++)
            for (int k = 0; k < BATCH && packet_take(d, d->devices[i]); k++)
                continue;
        release_due(d);
        if (!timer_arm(d))
            return 1;
    }
}

/*
 * Opens DEVICE. Frames on links have the kernel's virtio-net header, which is written back
 * unchanged. The kernel then need not segment long packets or compute their checksums at this
 * device.
 */
static int device_open(const delayer *d, const char *device) {
    struct ifreq request = {.ifr_flags = IFF_NO_PI};
    request.ifr_flags |= d->links ? IFF_TAP | IFF_VNET_HDR : IFF_TUN;
    if (strlen(device) >= sizeof request.ifr_name) {
        fprintf(stderr, "delay: the device name %s is too long\n", device);
        return -1;
    }
    strcpy(request.ifr_name, device);
    int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        complain("cannot open", "/dev/net/tun");
        return -1;
    }
    if (ioctl(file, TUNSETIFF, &request) < 0 ||
        (d->links && ioctl(file, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) < 0)) {
        complain("cannot use the device", device);
        close(file);
        return -1;
    }
    return file;
}

static int signals_open(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -1;
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static bool delayer_open(delayer *d, int count, char *const devices[]) {
    if (!matrix_load(d))
        return false;
    d->queue = malloc(MOST_HELD * sizeof *d->queue);
    if (!d->queue) {
        complain("cannot hold", "packets");
        return false;
    }
    for (; d->device_count < count; d->device_count++)
        if ((d->devices[d->device_count] = device_open(d, devices[d->device_count])) < 0)
            return false;
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    d->signals = signals_open();
    if (d->timer < 0 || d->signals < 0) {
        complain("cannot wait for", d->timer < 0 ? "time" : "signals");
        return false;
    }
    return true;
}

static void delayer_close(delayer *d) {
    for (int i = 0; i < d->device_count; i++)
        close(d->devices[i]);
    if (d->timer >= 0)
        close(d->timer);
    if (d->signals >= 0)
        close(d->signals);
    while (d->held > 0)
        free(queue_pop(d));
    free(d->latency);
    free(d->queue);
}

int main(int argc, char **argv) {
    bool links = argc > 1 && strcmp(argv[1], "links") == 0;
    bool sites = argc > 1 && strcmp(argv[1], "sites") == 0;
    int count = argc - 4;
    if ((!links && !sites) || count < 1 || count > (links ? MOST_DEVICES : 1)) {
        fprintf(stderr,
                "usage: delay sites MATRIX REPORT DEVICE\n"
                "       delay links MATRIX REPORT DEVICE...   (%d at most)\n",
                MOST_DEVICES);
        return 2;
    }
    delayer d = {
        .timer = -1, .signals = -1, .links = links, .matrix_file = argv[2], .report_file = argv[3]};
    int status = 1;
    if (delayer_open(&d, count, argv + 4) && daemon(0, 0) == 0) {
        /* Ranks keep the processors busy, and a late packet has a wrong latency. Without real-time
         * priority, latencies are only as exact as the scheduler. */
        sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
        status = delay_packets(&d);
    }
    delayer_close(&d);
    return status;
}
