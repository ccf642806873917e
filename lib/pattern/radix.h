/* The numbers below P by their digits to a radix. Pure arithmetic. */
#ifndef COLL_LIB_PATTERN_RADIX_H
#define COLL_LIB_PATTERN_RADIX_H

/* How many digits they have: ceil(log_RADIX P); P is at least 1. */
static inline int coll_radix_digits(int p, int radix) {
    int digits = 0;
    for (long long numbers = 1; numbers < p; numbers *= radix)
        digits++;
    return digits;
}

/* What a one is worth in digit NUMBER, from 0. */
static inline int coll_radix_worth(int radix, int number) {
    int worth = 1;
    while (number-- > 0)
        worth *= radix;
    return worth;
}

/* The least radix in which the numbers below P have at most DIGITS, which is at least 1. */
static inline int coll_radix_for(int p, int digits) {
    int radix = 2;
    while (coll_radix_digits(p, radix) > digits)
        radix++;
    return radix;
}

/* How many values but zero digit NUMBER has. */
static inline int coll_radix_others(int p, int radix, int number) {
    int others = (p - 1) / coll_radix_worth(radix, number);
    return others < radix ? others : radix - 1;
}

#endif
