#include "config.h"

#include "lib/algorithm/line.h"

#include "lib/pattern/order.h"

/* Behind the order there is scratch memory for making it. */
coll_comm_key coll_line_key = {.bytes = sizeof(coll_line),
                               .bytes_per_rank = sizeof(int) + sizeof(coll_visit)};

const coll_line *coll_line_of(const coll_comm *comm, const coll_shape *call) {
    coll_line *line = coll_comm_slot(comm, &coll_line_key);
    int root = coll_line_head(call);
    if (line->next_root == root + 1)
        return line;
    coll_order_chain(call->topo, root, (coll_visit *)&line->order[comm->ranks], line->order);
    line->next_root = root + 1;
    for (int i = 0; i < comm->ranks; i++)
        if (line->order[i] == comm->rank)
            line->position = i;
    return line;
}
