#include "config.h"

#include "lib/plan/task.h"

int coll_task_advance(coll_task *course, bool *moved) {
    int count = 0;
    if (course->active == 0)
        return MPI_SUCCESS;
    int code =
        PMPI_Testsome(course->count, course->requests, &count, course->indices, course->statuses);
    if (code != MPI_SUCCESS)
        return coll_wait_error(code, count, course->statuses);
    *moved = *moved || count > 0;
    if (count > 0)
        return course->take(course, count);
    if (course->looked)
        course->looked(course);
    return MPI_SUCCESS;
}

int coll_task_run(coll_task *course) {
    int code = course->start(course);
    while (course->active > 0 && code == MPI_SUCCESS) {
        int count;
        code = coll_wait_some(&course->comm->wait, course->count, course->requests, course->peers,
                              &count, course->indices, course->statuses);
        if (code == MPI_SUCCESS && course->looked)
            course->looked(course);
        if (code == MPI_SUCCESS)
            code = course->take(course, count);
    }
    if (code != MPI_SUCCESS)
        coll_task_abandon(course);
    return code;
}

void coll_task_abandon(coll_task *course) {
    coll_wait_abandon(course->count, course->requests);
    course->active = 0;
}
