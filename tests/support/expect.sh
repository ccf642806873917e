#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests that continue after a failure, and have the number of failures in $failures at the end.
failures=0

# same WHAT EXPECTED GOT: counts a failure unless the two are equal.
same() {
    [[ $2 == "$3" ]] && return
    printf 'FAILED: %s\n  expected: %q\n  got:      %q\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

# matches WHAT PATTERN GOT: counts a failure unless GOT matches PATTERN.
matches() {
    # shellcheck disable=SC2053  # a pattern is meant
    [[ $3 == $2 ]] && return
    printf 'FAILED: %s\n  expected: %s\n  got:      %q\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}
