#include "config.h"

#include "lib/place/cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Between sites round trips take at least so many times as long as within, and at least so long
 * (seconds): microseconds here, milliseconds there.
 */
static const double SITE_FACTOR = 4, SITE_LEAST = 200e-6;

/* Racks are told apart only where the median across them is at least so many times that inside. */
static const double RACK_FACTOR = 1.15;

/* Times of more medians than that say nothing more. */
static const double OUTLIER = 2;

/* The groups that nodes were merged to: a forest in which roots are their own parents. */
static int find(int parents[], int node) {
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

static void make_singles(int parents[], int nodes) {
    for (int node = 0; node < nodes; node++)
        parents[node] = node;
}

/* Merges the groups of a pair; false when they are one already. */
static bool merge(int parents[], const coll_pair *pair) {
    int a = find(parents, pair->a), b = find(parents, pair->b);
    parents[b] = a;
    return a != b;
}

static bool is_inside(int parents[], const coll_pair *pair) {
    return find(parents, pair->a) == find(parents, pair->b);
}

static int by_time(const void *a, const void *b) {
    double one = ((const coll_pair *)a)->seconds, other = ((const coll_pair *)b)->seconds;
    return (one > other) - (one < other);
}

int coll_cluster_renumber(int *first, size_t stride, int count, int before, int map[]) {
    int next = 0;
    for (int i = 0; i < before; i++)
        map[i] = -1;
    for (int i = 0; i < count; i++) {
        int *number = (int *)((char *)first + (size_t)i * stride);
        if (map[*number] < 0)
            map[*number] = next++;
        *number = map[*number];
    }
    return next;
}

/* What the groups were is lost. */
static int number_groups(int parents[], int nodes, int labels[]) {
    for (int node = 0; node < nodes; node++)
        labels[node] = find(parents, node);
    return coll_cluster_renumber(labels, sizeof *labels, nodes, nodes, parents);
}

/*
 * Merges nodes up to the first jump from one merge to the next that is one between sites. Nodes
 * that no pair connects stay apart.
 */
static void merge_sites(int count, const coll_pair pairs[], int parents[]) {
    double last = 0;
    for (int i = 0; i < count; i++) {
        if (is_inside(parents, &pairs[i]))
            continue;
        double now = pairs[i].seconds;
        if (last > 0 && now >= SITE_FACTOR * last && now >= SITE_LEAST)
            return;
        merge(parents, &pairs[i]);
        last = now;
    }
}

/*
 * The sum of squares between the classes inside and across, of the logarithms of times; 0 where one
 * class is empty or inside is not the faster one. Outliers are cut to OUTLIER medians.
 */
static double separation(int parents[], int count, const coll_pair pairs[]) {
    double sums[2] = {0}, members[2] = {0};
    double most = OUTLIER * pairs[count / 2].seconds;
    for (int i = 0; i < count; i++) {
        int class = is_inside(parents, &pairs[i]);
        sums[class] += log(fmin(pairs[i].seconds, most));
        members[class]++;
    }
    if (members[0] == 0 || members[1] == 0)
        return 0;
    double apart = sums[0] / members[0] - sums[1] / members[1];
    return apart > 0 ? members[0] * members[1] / count * apart * apart : 0;
}

/* The number of merges after which the partition is the best. */
static int best_merges(int nodes, int count, const coll_pair pairs[], int parents[]) {
    int merges = 0, best = 0;
    double most = 0;
    make_singles(parents, nodes);
    for (int i = 0; i < count; i++) {
        if (!merge(parents, &pairs[i]))
            continue;
        merges++;
        double now = separation(parents, count, pairs);
        if (now > most) {
            most = now;
            best = merges;
        }
    }
    return best;
}

static void merge_first(int merges, int nodes, const coll_pair pairs[], int parents[]) {
    make_singles(parents, nodes);
    for (int i = 0; merges > 0; i++)
        merges -= merge(parents, &pairs[i]);
}

/* The times at a quarter, half and three quarters of the pairs that are inside groups, or across.
 */
static bool quartiles(bool inside, int parents[], int count, const coll_pair pairs[],
                      double times[3]) {
    int members = 0, seen = 0;
    for (int i = 0; i < count; i++)
        members += is_inside(parents, &pairs[i]) == inside;
    for (int i = 0; i < count; i++) {
        if (is_inside(parents, &pairs[i]) != inside)
            continue;
        for (int quarter = 1; quarter <= 3; quarter++)
            if (seen == (members - 1) * quarter / 4)
                times[quarter - 1] = pairs[i].seconds;
        seen++;
    }
    return members > 0;
}

/* Whether the groups are racks: clearly nearer inside than across. Sets the medians. */
static bool are_clear(int parents[], int count, const coll_pair pairs[], coll_clusters *found) {
    double inside[3], across[3];
    if (!quartiles(true, parents, count, pairs, inside) ||
        !quartiles(false, parents, count, pairs, across))
        return false;
    found->near = inside[1];
    found->far = across[1];
    return inside[2] < across[0] && across[1] >= RACK_FACTOR * inside[1];
}

/* Racks from the COUNT pairs that lie within sites; false where no clear ones are seen. */
static bool find_racks(int nodes, int count, const coll_pair pairs[], int parents[],
                       coll_clusters *found) {
    int merges = best_merges(nodes, count, pairs, parents);
    merge_first(merges, nodes, pairs, parents);
    if (are_clear(parents, count, pairs, found))
        return true;
    found->near = count ? pairs[(count - 1) / 2].seconds : 0;
    found->far = 0;
    return false;
}

bool coll_cluster(int nodes, int count, coll_pair pairs[], int racks[], int sites[],
                  coll_clusters *found) {
    int *parents = malloc((size_t)nodes * sizeof *parents);
    coll_pair *local = calloc((size_t)count + 1, sizeof *local);
    bool good = parents && local;
    if (good) {
        if (count > 0) /* else PAIRS may be NULL, which qsort must not be given */
            qsort(pairs, (size_t)count, sizeof *pairs, by_time);
        make_singles(parents, nodes);
        merge_sites(count, pairs, parents);
        found->sites = number_groups(parents, nodes, sites);

        int locals = 0;
        for (int i = 0; i < count; i++)
            if (sites[pairs[i].a] == sites[pairs[i].b])
                local[locals++] = pairs[i];
        memcpy(racks, sites, (size_t)nodes * sizeof *racks);
        found->racks = found->sites;
        if (find_racks(nodes, locals, local, parents, found))
            found->racks = number_groups(parents, nodes, racks);
    }
    free(parents);
    free(local);
    return good;
}
