#!/bin/bash
# Sourced by tests that go on after a failure, and end with the number of them in $failures.
failures=0

# same WHAT EXPECTED GOT
same() {
    [[ $2 == "$3" ]] && return
    printf 'FAILED: %s\n  expected: %q\n  got:      %q\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

# matches WHAT PATTERN GOT
matches() {
    # shellcheck disable=SC2053  # a pattern it is
    [[ $3 == $2 ]] && return
    printf 'FAILED: %s\n  expected: %s\n  got:      %q\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}
