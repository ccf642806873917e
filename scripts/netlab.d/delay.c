/*
 * delay DEVICE MATRIX REPORT: the wide area between the sites of a netlab lab. Reads IPv4 packets
 * from the TUN device DEVICE, holds each for the one-way latency from its source's site to its
 * destination's, and writes it back. Site S has the addresses 10.77.S.*.
 *
 * MATRIX holds the number of sites N, then N rows (from) of N latencies (to) in nanoseconds. SIGHUP
 * makes the program read it again (a bad one is refused and the old one stays) and write REPORT:
 * lines of a name and a number. The program prints nothing and goes to the background once the
 * device and the matrix are in order; else it says what is wrong and exits with 1.
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
    MOST_BYTES = 1500,   /* of one packet: the device's MTU */
    MOST_HELD = 1 << 16, /* packets at a time: 65,536 full ones are 8 s of 100 Mbit/s */
    BATCH = 64           /* packets read before those that are due get their turn */
};

typedef struct packet {
    size_t bytes;
    unsigned char data[MOST_BYTES];
} packet;

/* A held packet's place in the queue; packets that are due together leave as they came. */
typedef struct place {
    uint64_t due, arrival;
    packet *packet;
} place;

typedef struct delayer {
    int tun, timer, signals;
    const char *matrix_file, *report_file;
    size_t sites;
    uint64_t *latency; /* sites x sites, row = from */
    packet *packets;   /* MOST_HELD of them; memory is taken as they are first used */
    packet **unused;   /* a stack of those that hold nothing */
    size_t unused_count;
    place *queue; /* a heap, the first to leave on top */
    size_t held;
    uint64_t armed; /* when the timer rings; 0 when it is off */
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

/* Reads a matrix; returns NULL, and says why on stderr, when it isn't one. The caller frees it. */
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
        return; /* whoever waits for the report notices */
    fprintf(file,
            "loads %" PRIu64 "\nrefusals %" PRIu64 "\nheld %zu\narrivals %" PRIu64
            "\nreleased %" PRIu64 "\ndropped_full %" PRIu64 "\ndropped_unroutable %" PRIu64
            "\ndropped_device %" PRIu64 "\n",
            d->loads, d->refusals, d->held, d->arrivals, d->released, d->dropped_full,
            d->dropped_unroutable, d->dropped_device);
    if (fclose(file) == 0)
        rename(name, d->report_file);
}

/* The one-way latency of an IPv4 packet between two sites; false when it isn't one. */
static bool latency_of(const delayer *d, const packet *p, uint64_t *latency) {
    static const unsigned char net[] = {10, 77};
    const unsigned char *from = p->data + 12, *to = p->data + 16; /* in the IPv4 header */
    if (p->bytes < 20 || p->data[0] >> 4 != 4)
        return false;
    if (memcmp(from, net, sizeof net) != 0 || memcmp(to, net, sizeof net) != 0)
        return false;
    if (from[2] >= d->sites || to[2] >= d->sites)
        return false;
    *latency = d->latency[from[2] * d->sites + to[2]];
    return true;
}

/* Takes one packet from the device; false when there is none. */
static bool packet_take(delayer *d) {
    static packet surplus; /* what is read here is dropped */
    packet *p = d->unused_count > 0 ? d->unused[d->unused_count - 1] : &surplus;
    ssize_t bytes = read(d->tun, p->data, sizeof p->data);
    uint64_t latency;
    if (bytes < 0)
        return false;
    d->arrivals++;
    p->bytes = (size_t)bytes;
    if (p == &surplus) {
        d->dropped_full++;
    } else if (!latency_of(d, p, &latency)) {
        d->dropped_unroutable++;
    } else {
        d->unused_count--;
        queue_push(d, (place){now() + latency, d->arrivals, p});
    }
    return true;
}

static void release_due(delayer *d) {
    while (d->held > 0 && d->queue[0].due <= now()) {
        packet *p = queue_pop(d);
        if (write(d->tun, p->data, p->bytes) == (ssize_t)p->bytes)
            d->released++;
        else
            d->dropped_device++;
        d->unused[d->unused_count++] = p;
    }
}

/* Lets the timer ring when the next packet is due. */
static bool timer_arm(delayer *d) {
    uint64_t due = d->held > 0 ? d->queue[0].due : 0;
    if (due == d->armed)
        return true;
    d->armed = due;
    struct itimerspec at = {
        .it_value = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)}};
    return timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &at, NULL) == 0;
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

/* Runs until SIGTERM; returns the exit status. */
static int delay_packets(delayer *d) {
    struct pollfd files[] = {{d->tun, POLLIN, 0}, {d->timer, POLLIN, 0}, {d->signals, POLLIN, 0}};
    for (;;) {
        if (poll(files, 3, -1) < 0 && errno != EINTR)
            return 1;
        if (files[0].revents & (POLLERR | POLLHUP | POLLNVAL))
            return 0; /* the lab was taken down */
        if (files[2].revents && signal_take(d))
            return 0;
        uint64_t rings;
        if (files[1].revents && read(d->timer, &rings, sizeof rings) > 0)
            d->armed = 0;
        for (int i = 0; i < BATCH && packet_take(d); i++)
            continue;
        release_due(d);
        if (!timer_arm(d))
            return 1;
    }
}

static int tun_open(const char *device) {
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    if (strlen(device) >= sizeof request.ifr_name) {
        fprintf(stderr, "delay: the device name %s is too long\n", device);
        return -1;
    }
    strcpy(request.ifr_name, device);
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun < 0) {
        complain("cannot open", "/dev/net/tun");
        return -1;
    }
    if (ioctl(tun, TUNSETIFF, &request) < 0) {
        complain("cannot use the TUN device", device);
        close(tun);
        return -1;
    }
    return tun;
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

static bool queue_create(delayer *d) {
    d->packets = malloc(MOST_HELD * sizeof *d->packets);
    d->unused = malloc(MOST_HELD * sizeof *d->unused);
    d->queue = malloc(MOST_HELD * sizeof *d->queue);
    if (!d->packets || !d->unused || !d->queue) {
        complain("cannot hold", "packets");
        return false;
    }
    while (d->unused_count < MOST_HELD) {
        d->unused[d->unused_count] = &d->packets[MOST_HELD - 1 - d->unused_count];
        d->unused_count++;
    }
    return true;
}

static bool delayer_open(delayer *d, const char *device) {
    if (!matrix_load(d) || !queue_create(d))
        return false;
    d->tun = tun_open(device);
    if (d->tun < 0)
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
    if (d->tun >= 0)
        close(d->tun);
    if (d->timer >= 0)
        close(d->timer);
    if (d->signals >= 0)
        close(d->signals);
    free(d->latency);
    free(d->packets);
    free(d->unused);
    free(d->queue);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: delay DEVICE MATRIX REPORT\n");
        return 2;
    }
    delayer d = {
        .tun = -1, .timer = -1, .signals = -1, .matrix_file = argv[2], .report_file = argv[3]};
    int status = 1;
    if (delayer_open(&d, argv[1]) && daemon(0, 0) == 0) {
        /* Ranks keep the processors busy, and a late packet is a wrong latency. Where real time
         * isn't to be had, latencies are only as exact as the scheduler. */
        sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
        status = delay_packets(&d);
    }
    delayer_close(&d);
    return status;
}
