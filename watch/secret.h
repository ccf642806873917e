/* What the watchers of a job know and nobody else: messages carry a sum that only they can form. */
#ifndef COLL_WATCH_SECRET_H
#define COLL_WATCH_SECRET_H

#include <stddef.h>
#include <stdint.h>

typedef struct watch_secret {
    uint64_t key[2];
} watch_secret;

/* Fills in a new one; false: the system has no random numbers. */
int watch_secret_make(watch_secret *secret);
uint64_t watch_secret_nonce(void);

/* SipHash-2-4 of the LENGTH bytes at DATA, by Aumasson and Bernstein, continuing from SEED. */
uint64_t watch_secret_sum(const watch_secret *secret, uint64_t seed, const void *data,
                          size_t length);

#endif
