/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A secret that only the watchers of a job know. Their messages carry an authentication code that
 * is computed with this secret.
 */
#ifndef COLL_WATCH_AUTH_H
#define COLL_WATCH_AUTH_H

#include <stddef.h>
#include <stdint.h>

typedef struct watch_secret {
    uint64_t key[2];
} watch_secret;

/* Fills in a new secret. Returns 0 if the system provides no random numbers. */
int watch_auth_make_secret(watch_secret *secret);

/* Returns a random number, or 0 if the system provides none. */
uint64_t watch_auth_nonce(void);

/* Returns the SipHash-2-4 (Aumasson and Bernstein) of SEED and the LENGTH bytes at DATA, except
 * that the length in the last word is taken modulo 8. */
uint64_t watch_auth_code(const watch_secret *secret, uint64_t seed, const void *data,
                         size_t length);

#endif
