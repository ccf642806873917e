/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/job.h"

/* In milliseconds. */
enum { CONNECT = 250, ANSWER = 400, ANSWER_PER_RANK = 8, LONGEST_ANSWER = 1500 };

watch_job watch_own;

struct sockaddr_in watch_job_address(const watch_peer *peer) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = peer->address, .sin_port = htons(peer->port)};
}

void watch_job_ask(int rank, const watch_question *question, watch_answered *answered,
                   void *context) {
    struct sockaddr_in there = watch_job_address(&watch_own.peers[rank]);
    watch_wire_ask(&there, question, answered, context);
}

void watch_job_tell(int rank, int kind, const void *data, size_t length) {
    struct sockaddr_in there = watch_job_address(&watch_own.peers[rank]);
    if (there.sin_port)
        watch_wire_tell(&there, kind, data, length, ANSWER);
}

watch_timeouts watch_job_timeouts(int levels, int round) {
    int hello = ANSWER + ANSWER_PER_RANK * watch_own.ranks;
    hello = hello < LONGEST_ANSWER ? hello : LONGEST_ANSWER;
    /* Each level may wait for a watcher that doesn't answer, and then ask other watchers
     * instead. */
    return (watch_timeouts){
        .connect = CONNECT << round, .hello = hello, .answer = hello * (1 + 2 * levels)};
}

uint64_t watch_job_limit(void) {
    return (uint64_t)(watch_own.settings->seconds * 1e9);
}
