/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/task.h"

static bool any_is_complete(const coll_task *task, coll_is_complete *is_complete) {
    int i = 0;
    while (i < task->count &&
           (task->requests[i] == MPI_REQUEST_NULL || !is_complete(task->requests[i])))
        i++;
    return i < task->count;
}

int coll_task_advance(coll_task *task, coll_is_complete *is_complete, bool *moved) {
    int count = 0, code = MPI_SUCCESS;
    if (task->active == 0)
        return MPI_SUCCESS;
    if (!is_complete || any_is_complete(task, is_complete))
        code = PMPI_Testsome(task->count, task->requests, &count, task->indices, task->statuses);
    if (code != MPI_SUCCESS)
        return coll_wait_error(code, count, task->statuses);
    *moved = *moved || count > 0;
    if (count > 0)
        return task->handle_completed(task, count);
    if (task->after_test)
        task->after_test(task);
    return MPI_SUCCESS;
}

int coll_task_run(coll_task *task) {
    int code = task->start(task);
    while (task->active > 0 && code == MPI_SUCCESS) {
        int count;
        code = coll_wait_some(&task->comm->wait, task->count, task->requests, task->peers, &count,
                              task->indices, task->statuses);
        if (code == MPI_SUCCESS && task->after_test)
            task->after_test(task);
        if (code == MPI_SUCCESS)
            code = task->handle_completed(task, count);
    }
    if (code != MPI_SUCCESS)
        coll_task_abandon(task);
    return code;
}

void coll_task_abandon(coll_task *task) {
    coll_wait_abandon(task->count, task->requests);
    task->active = 0;
}
