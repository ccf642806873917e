# SPDX-License-Identifier: BSD-3-Clause
# A program of mpi4py: blocking and nonblocking collectives of objects and arrays.
packages=python3-mpi4py

input() {
    rounds=1
    [ "$where" = host ] || rounds=12
    cat >mpi.py <<END_OF_INPUT
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
half = world.Split(world.rank % 2, world.rank)
for _ in range($rounds):
    mine, total, parts = (array("d", [world.rank / 4] * 3) for _ in range(3))
    world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE])
    half.Iallreduce([mine, MPI.DOUBLE], [parts, MPI.DOUBLE], MPI.MAX).Wait()
    counts = [(array("i", [i]), array("i", [0])) for i in range(20)]
    MPI.Request.Waitall([world.Iallreduce([a, MPI.INT], [b, MPI.INT]) for a, b in counts])
    words = world.bcast({i: str(i) * 10 for i in range($rounds * 200)})
    lines = world.gather((
        world.rank, world.size, world.name, total.tolist(), parts.tolist(),
        sum(b[0] for _, b in counts), world.allreduce({world.rank}, lambda a, b: a | b), len(words),
        world.bcast(world.size), world.gather(world.rank, 0), world.Get_attr(MPI.TAG_UB),
        world.Get_group().Get_size()))
for line in lines or ():
    print(*line)
END_OF_INPUT
}
program() {
    "$@" /usr/bin/python3 mpi.py
}
verdict() {
    sort output
}
