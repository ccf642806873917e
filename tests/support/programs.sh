#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests of programs. The programs are in $build. The tests run in a temporary directory.
. "$(dirname "$0")/../support/ranks.sh"
. "$(dirname "$0")/../support/launcher.sh"
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
