#include "config.h"

#include "app/asleep.h"

#include <time.h>

int wait_asleep(MPI_Request *request, double nap, double longest) {
    for (;; nap = nap < longest ? 2 * nap : nap) {
        struct timespec time = {.tv_nsec = (long)(nap * 1e9)};
        int done, code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done)
            return code;
        nanosleep(&time, NULL);
    }
}
