/*
 * Two trees over the same hosts, each for half of the data, such that no host sends more than one
 * copy of the whole and every rack is entered once by each tree: broadcast at the full rate of the
 * links, as by a chain, with a depth of racks + log2(hosts of a rack) instead of hosts. Pure.
 *
 * Racks form a chain. In a rack hosts are inner nodes of the first and of the second tree by turns,
 * with two children each; one left over has one child in both. The host by which a tree enters a
 * rack first passes on to the next rack.
 *
 * Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan, Parallel Computing 35 (2009); the racks are ours.
 */
#ifndef COLL_LIB_PATTERN_TWOTREE_H
#define COLL_LIB_PATTERN_TWOTREE_H

/*
 * The trees over HOSTS >= 1 hosts, the root being host 0. RACK_OF gives each host's rack; the hosts
 * of a rack are consecutive. PARENT[t][h] becomes the parent of host h in tree t, -1 for the root.
 * Children get their data in ascending order of RANK_OF_CHILD[t][h], 0 or 1. SCRATCH has
 * room for COLL_TWO_TREE_SCRATCH x (HOSTS + 1) numbers.
 */
enum { COLL_TWO_TREE_SCRATCH = 3 };
void coll_two_tree(int hosts, const int rack_of[], int scratch[], int *parent[2],
                   int *rank_of_child[2]);

#endif
