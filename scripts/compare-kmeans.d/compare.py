# SPDX-License-Identifier: BSD-3-Clause
"""Runs coll-kmeans, FAISS and scikit-learn on the same task and prints the table of compare-kmeans."""

import argparse
import json
import os
import subprocess
import sys

import numpy as np

RIVAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rival.py")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--features")
    parser.add_argument("--float32", type=int)
    parser.add_argument("--coll-kmeans", required=True)
    parser.add_argument("--json")
    parser.add_argument("--points", type=int, default=100000)
    parser.add_argument("--k", type=int, default=4000)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


def run(command, threads, **environment):
    """Runs a program on THREADS processors; returns its output and its peak memory in bytes."""
    processors = sorted(os.sched_getaffinity(0))[:threads]
    settings = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    settings.pop("OPENBLAS_CORETYPE", None)  # lets OpenBLAS choose
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(settings, **environment),
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"compare-kmeans: failed: {' '.join(command)}")
    return output, usage.ru_maxrss * 1024


def core_types():
    """Returns the core types to measure: None for OpenBLAS's own choice, and the processor's best known one."""
    with open("/proc/cpuinfo") as info:
        flags = set(next((line for line in info if line.startswith("flags")), "").split())
    best = {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags and "SkylakeX"
    best = best or ("avx2" in flags and "Haswell")
    return [None, best] if best else [None]


def make_points(options):
    """Writes float32 rows around the means of 5000 normal distributions, and returns the file's path."""
    random = np.random.default_rng(1)
    means = random.standard_normal((5000, options.float32), dtype=np.float32)
    path = os.path.join(options.work, "points.npy")
    shape = (options.points, options.float32)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for first in range(0, options.points, 10000):
        part = rows[first : first + 10000]
        part[:] = random.standard_normal(part.shape, dtype=np.float32)
        part *= np.float32(0.6)
        part += means[random.integers(0, len(means), len(part))]
    rows.flush()
    return path


def take_points(options):
    """Writes --points rows, spread evenly over the features, and returns the file's path."""
    if options.float32:
        return make_points(options)
    rows = np.load(options.features, mmap_mode="r")
    if rows.ndim != 2 or rows.dtype != np.uint8 or not options.k <= options.points <= len(rows):
        sys.exit(
            f"compare-kmeans: {options.features}: rows of uint8 are needed, as many as --points, "
            "and no more clusters than points"
        )
    path = os.path.join(options.work, "points.npy")
    np.save(path, rows[np.arange(options.points) * len(rows) // options.points])
    return path


def coll_kmeans(options, points, iterations, centroids):
    results = os.path.join(options.work, "steps.json")
    command = [options.coll_kmeans, "--k", str(options.k), "--iterations", str(iterations)]
    command += ["--threads", str(options.threads), "--json", results, points]
    command += ["--centroids", centroids, "--assign", os.path.join(options.work, "assign.npy")]
    _, memory = run(command, options.threads)
    with open(results) as lines:
        return json.loads(lines.readlines()[-1])["seconds"], memory


def rival(options, system, points, start, centroids, core_type):
    command = [sys.executable, RIVAL, system, points, start, str(options.iterations)]
    command += [str(options.threads), centroids]
    environment = {"OPENBLAS_CORETYPE": core_type} if core_type else {}
    output, memory = run(command, options.threads, **environment)
    return float(output), memory


def objective(points, centroids):
    """Returns the sum of squared distances to the nearest centroids, in double precision."""
    centroids = centroids.astype(np.float64)
    norms = (centroids**2).sum(1)
    total = 0.0
    for first in range(0, len(points), 4096):
        block = points[first : first + 4096].astype(np.float64)
        nearest = (norms - 2 * block @ centroids.T).argmin(1)
        total += ((block - centroids[nearest]) ** 2).sum()
    return total


def main():
    options = parse()
    points = take_points(options)
    start, centroids = (os.path.join(options.work, name) for name in ("start.npy", "centroids.npy"))
    coll_kmeans(options, points, 0, start)
    data = np.load(points)

    def cluster(system, core_type):
        if system == "coll-kmeans":
            return coll_kmeans(options, points, options.iterations, centroids)
        return rival(options, system, points, start, centroids, core_type)

    contestants = [("coll-kmeans", None)]
    contestants += [(system, t) for system in ("FAISS", "scikit-learn") for t in core_types()]
    runs = {contestant: [] for contestant in contestants}
    results = {}
    for _ in range(options.repeat):  # in turns, so that other load slows all of them
        for contestant in contestants:
            runs[contestant].append(cluster(*contestant))
            results[contestant] = np.load(centroids)
    rows = []
    for system in ("coll-kmeans", "FAISS", "scikit-learn"):
        (seconds, memory), best = min(
            ((min(runs[c]), c) for c in contestants if c[0] == system), key=lambda found: found[0]
        )
        rows.append((system, best[1], seconds, memory, objective(data, results[best])))
    print_table(options, data, rows)


def print_table(options, data, rows):
    kind = "bytes" if data.dtype == np.uint8 else "float32"
    print(
        f"{options.points} points of {data.shape[1]} {kind}, k = {options.k}, {options.iterations} iterations "
        f"and a final assignment, {options.threads} thread(s)"
    )
    print(f"{'system':14}{'core type':>12}{'seconds':>10}{'times':>8}{'memory MB':>11}{'objective':>20}")
    for system, core_type, seconds, memory, result in rows:
        times = seconds / rows[0][2]
        print(
            f"{system:14}{core_type or '-':>12}{seconds:10.2f}{times:8.2f}{memory / 1e6:11.0f}"
            f"{result:20.10g}"
        )
    if options.json:
        keys = ("system", "core_type", "seconds", "memory", "objective")
        with open(options.json, "w") as file:
            for row in rows:
                file.write(json.dumps(dict(zip(keys, row))) + "\n")


main()
