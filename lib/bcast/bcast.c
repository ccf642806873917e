#include "config.h"

#include "lib/bcast/bcast.h"

const coll_algorithm *const coll_bcast_table[] = {
    &coll_bcast_native.base,   &coll_bcast_linear.base,
    &coll_bcast_binomial.base, &coll_bcast_scatter_allgather.base,
    &coll_bcast_chain.base,    &coll_bcast_circulant.base,
    &coll_bcast_two_tree.base, &coll_bcast_flat.base,
    &coll_bcast_hlot.base,     NULL,
};
