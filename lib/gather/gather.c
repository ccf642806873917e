#include "config.h"

#include "lib/gather/gather.h"

const coll_algorithm *const coll_gather_table[] = {
    &coll_gather_native.base, &coll_gather_linear.base, &coll_gather_binomial.base,
    &coll_gather_window.base, &coll_gather_credit.base, NULL,
};

/* Where nobody has measured it: that of the smallest switches. */
static const double SMALL_BUFFER = 60e3;

double coll_gather_buffer(const coll_profile *profile, const coll_topo *topo) {
    double buffer = coll_cost_buffer(coll_profile_outermost(profile, topo));
    return buffer > 0 ? buffer : SMALL_BUFFER;
}
