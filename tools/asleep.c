#include "config.h"

#include "tools/asleep.h"

#include <time.h>

int wait_asleep(MPI_Request *request, double nap) {
    struct timespec time = {.tv_nsec = (long)(nap * 1e9)};
    for (;;) {
        int done, code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done)
            return code;
        nanosleep(&time, NULL);
    }
}
