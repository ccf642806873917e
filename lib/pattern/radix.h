/* SPDX-License-Identifier: BSD-3-Clause */
/* Digits, to a given radix, of the numbers below P. Pure arithmetic. */
#ifndef COLL_LIB_PATTERN_RADIX_H
#define COLL_LIB_PATTERN_RADIX_H

/* Returns how many digits the numbers below P have: ceil(log_RADIX P); P must be at least 1. */
static inline int coll_radix_digits(int p, int radix) {
    int digits = 0;
    for (long long numbers = 1; numbers < p; numbers *= radix)
        digits++;
    return digits;
}

/* Returns the value of a one in digit NUMBER, counted from 0. */
static inline int coll_radix_worth(int radix, int number) {
    int worth = 1;
    while (number-- > 0)
        worth *= radix;
    return worth;
}

/*
 * Returns the smallest radix in which the numbers below P have at most DIGITS digits; DIGITS must
 * be at least 1.
 */
static inline int coll_radix_for(int p, int digits) {
    int radix = 2;
    while (coll_radix_digits(p, radix) > digits)
        radix++;
    return radix;
}

/* Returns how many nonzero values digit NUMBER can have in the numbers below P. */
static inline int coll_radix_others(int p, int radix, int number) {
    int others = (p - 1) / coll_radix_worth(radix, number);
    return others < radix ? others : radix - 1;
}

/* Returns the largest count, over all digits, of the numbers below P in which that digit is 1. */
static inline int coll_radix_most_ones(int p, int radix) {
    int most = 0;
    for (int digit = 0; digit < coll_radix_digits(p, radix); digit++) {
        const int worth = coll_radix_worth(radix, digit), turn = radix * worth;
        const int rest = p % turn - worth;
        const int last = rest < 0 ? 0 : rest < worth ? rest : worth;
        const int ones = p / turn * worth + last;
        most = ones > most ? ones : most;
    }
    return most;
}

#endif
