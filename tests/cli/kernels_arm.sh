#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests K-means' kernels for 64-bit ARM on processors that qemu emulates: with matrix products, with dot
# products only, and with neither. On each, the supported kernels are found and are right.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
compiler=aarch64-linux-gnu-gcc
for tool in $compiler qemu-aarch64; do
    command -v "$tool" >/dev/null || {
        echo "skipped: kernels for ARM: no $tool (packages qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross)"
        exit 77
    }
done
. "$(dirname "$0")/../support/programs.sh"

# The configuration of this build does not apply to another processor.
: >config.h
$compiler -static -std=c11 -D_GNU_SOURCE -O2 -fopenmp -Wall -Wextra -Werror -I. -I"$source_dir" -o kernels \
    "$source_dir"/tests/unit/kernels.c "$source_dir"/kmeans/assign/kernel.c \
    "$source_dir"/kmeans/assign/assign_*.c >out 2>err || fail "not compiled for ARM"

# processor NAME BEST: expects that the fastest kernel of processor NAME is BEST.
processor() {
    timeout 60 qemu-aarch64 -cpu "$1" ./kernels >out 2>err || fail "kernels of $1"
    grep -q -x "best: $2" out || fail "$1: not $2"
}
processor max neon-i8mm
processor neoverse-n1 neon-dotprod
processor cortex-a57 scalar
