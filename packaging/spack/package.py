# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack. Put it into your repository as packages/libcoll/package.py, and put the tarball of
# "make dist" into the folder in which you run "spack install libcoll".
import os

from spack.package import *


class Libcoll(AutotoolsPackage):
    """MPI collectives for commodity Ethernet, wide-area sites and high rank counts, and programs
    that use them, among them an exact K-means over MPI."""

    manual_download = True
    url = "file://{0}/libcoll-0.2.0.tar.gz".format(os.getcwd())

    license("BSD-3-Clause")

    version("0.2.0")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("hwloc@2:")
    depends_on("libpng")
    depends_on("zlib-api")

    def configure_args(self):
        return ["CC={0}".format(self.spec["mpi"].mpicc)]
