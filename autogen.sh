#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes ./configure from configure.ac. Needs autoconf, automake and libtool.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux m4
exec autoreconf --install --force
