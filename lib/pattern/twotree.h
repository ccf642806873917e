/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two trees over the same hosts, each for half of the data, such that no host sends more than one
 * copy of the data in all, and each tree enters every rack once. They broadcast at the full rate of
 * the links, as a chain does, with a depth of racks + log2(hosts of a rack) instead of hosts. Pure
 * arithmetic.
 *
 * Racks form a chain. The hosts of a rack are alternately inner nodes of the first and of the
 * second tree, with two children each; if their number is odd, the last one has one child in both
 * trees. The host through which a tree enters a rack first forwards to the next rack; in the root's
 * rack, if it has other hosts, the root's child does.
 *
 * Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan, Parallel Computing 35 (2009); the racks are ours.
 */
#ifndef COLL_LIB_PATTERN_TWOTREE_H
#define COLL_LIB_PATTERN_TWOTREE_H

/*
 * Computes the trees over HOSTS >= 1 hosts, with host 0 as the root. RACK_OF gives each host's
 * rack; the hosts of a rack are consecutive. Sets PARENT[t][h] to the parent of host h in tree t,
 * -1 for the root, and CHILD[t][2 h] and CHILD[t][2 h + 1] to its children in the order in which
 * they receive their data, -1 for none. SCRATCH has room for COLL_TWO_TREE_SCRATCH x HOSTS numbers.
 */
enum { COLL_TWO_TREE_SCRATCH = 2 };
void coll_two_tree(int hosts, const int rack_of[], int scratch[], int *parent[2], int *child[2]);

#endif
