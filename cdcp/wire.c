#include "config.h"

#include "cdcp/wire.h"

/* Two values and their nodes, or what 512 members take; at least what eager messages carry. */
size_t coll_wire_room(size_t limit) {
    const size_t least = 2048;
    size_t nodes = 2 * (limit + sizeof(coll_wire_node));
    return nodes > least ? nodes : least;
}
