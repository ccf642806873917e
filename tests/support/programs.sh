#!/bin/sh
# Sourced by the tests of programs: those are in $build, and run in a directory that goes at the end.
. "$(dirname "$0")/../support/ranks.sh"
# shellcheck disable=SC2034 # for whoever sources it
build=$PWD
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

fail() {
    echo "FAILED: $*"
    head -n 50 out err 2>/dev/null
    exit 1
}
