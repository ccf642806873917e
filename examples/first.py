# SPDX-License-Identifier: BSD-3-Clause
"""The first program in Python: rank 0 broadcasts, every rank prints.

    mpirun -n 4 python3 first.py
"""

import coll
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
greeting = numpy.zeros(17, dtype="u1")
if comm.rank == 0:
    greeting[:] = list(b"hello from rank 0")
coll.Bcast(greeting, root=0, comm=comm)
print(f"rank {comm.rank}: {greeting.tobytes().decode()}")
