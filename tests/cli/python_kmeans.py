# SPDX-License-Identifier: BSD-3-Clause
"""Tests coll.KMeans: against Lloyd's algorithm in numpy, with rows on several ranks, and its errors."""

import pickle

import numpy
from mpi4py import MPI

from coll import KMeans
from coll._library import ffi

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
random = numpy.random.RandomState(1)
middles = random.uniform(20, 220, (6, 7))
data = middles[random.randint(6, size=400)] + random.normal(0, 9, (400, 7))


def lloyd(X, centers, iterations):
    """Returns centroids after ITERATIONS, and then the labels and the objective."""
    X, centers = X.astype(float), centers.astype(float)
    for _ in range(iterations):
        labels = ((X[:, None] - centers) ** 2).sum(2).argmin(1)
        centers = numpy.array([X[labels == j].mean(0) if (labels == j).any() else c for j, c in enumerate(centers)])
    squares = ((X[:, None] - centers) ** 2).sum(2)
    return centers, squares.argmin(1), squares.min(1).sum()


def refused(kind, text, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        assert text in str(error), (text, str(error))
    else:
        raise AssertionError(f"not refused: {text}")


# Against numpy: for all types of elements, layouts, and far from 0.
for X, exact in (
    (data, 1e-5),
    (data.astype("f4"), 1e-5),
    (numpy.asfortranarray(data)[::2], 1e-5),
    (data.round().astype("u1"), 1e-4),
    (data.round(), 1e-4),
    (data.round().astype("i4") - 100, 1e-5),
    ((data / 250).astype("f2"), 1e-6),
    (data + 1e7, 1e-5),
    (data * 1e-30, 1e-35),
):
    first = X[:: len(X) // 6][:6]
    centers, labels, objective = lloyd(X, first, 3)
    model = KMeans(6, init=first, max_iter=3, tol=0).fit(X)
    assert numpy.abs(model.cluster_centers_ - centers).max() < exact * max(1, numpy.abs(centers).max() * 1e-6)
    assert (model.labels_ == labels).all() and model.n_iter_ == 3
    assert abs(model.inertia_ / objective - 1) < 1e-6
    assert (model.predict(X) == labels).all() and model.labels_.dtype == numpy.int32
    assert abs(model.score(X) / objective + 1) < 1e-6
    distances = numpy.sqrt(((X[:, None].astype(float) - model.cluster_centers_) ** 2).sum(2))
    assert numpy.allclose(model.transform(X), distances, rtol=1e-5)
    assert model.cluster_centers_.dtype == (float if X.dtype in ("f8", "i4") else "f4")

# By cosine: spherical K-means.
X = data - 120
unit = X / numpy.sqrt((X**2).sum(1, keepdims=True))
centers = unit[:6]
for _ in range(3):
    labels = (unit @ centers.T).argmax(1)
    centers = numpy.array([unit[labels == j].mean(0) for j in range(6)])
    centers /= numpy.sqrt((centers**2).sum(1, keepdims=True))
for scaled in X, X * numpy.linspace(1, 1000, len(X))[:, None], X.astype("f4"):
    model = KMeans(6, init=X[:6] * 7, max_iter=3, tol=0, metric="cosine").fit(scaled)
    assert numpy.abs(model.cluster_centers_ - centers).max() < 1e-6
    assert (model.labels_ == (unit @ centers.T).argmax(1)).all()
    assert abs(model.inertia_ / 2 - (1 - (unit @ centers.T).max(1)).sum()) < 1e-5
    assert (model.predict(scaled * 3) == model.labels_).all() and (model.predict(scaled) == model.labels_).all()
    assert numpy.abs(model.transform(scaled) ** 2 / 2 - 1 + unit @ centers.T).max() < 1e-6
spoilt = X.copy()
spoilt[5] = 0
refused(ValueError, "point 5 (counted from 0) is 0 and has no direction", KMeans(6, metric="cosine").fit, spoilt)
refused(ValueError, "point 5 (counted from 0) is 0 and has no direction", model.predict, spoilt)
X = (data / 250).astype("f2")
model = KMeans(6, random_state=1).fit(X)

# Weights: of all kinds, against numpy, in which empty clusters stay.
weights = random.uniform(0, 5, 400) * (random.uniform(size=400) < 0.8)
counts = random.randint(0, 4, 400)


def weighted_lloyd(X, centers, iterations, weights):
    """Does the same as lloyd, with weights."""
    X, centers = X.astype(float), centers.astype(float)
    for _ in range(iterations):
        labels = ((X[:, None] - centers) ** 2).sum(2).argmin(1)
        centers = numpy.array([numpy.average(X[labels == j], 0, weights[labels == j]) for j in range(len(centers))])
    squares = ((X[:, None] - centers) ** 2).sum(2)
    return centers, squares.argmin(1), (squares.min(1) * weights).sum()


for X in data, data.astype("f4"), data.round().astype("u1"), data.round():
    first = X[:: len(X) // 6][:6]
    for given in weights, counts, weights * 1e-300, weights * 1e300, numpy.exp(3 * weights):
        centers, labels, objective = weighted_lloyd(X, first, 3, given * 1.0)
        model = KMeans(6, init=first, max_iter=3, tol=0).fit(X, sample_weight=given)
        assert numpy.abs(model.cluster_centers_ - centers).max() < 1e-4
        assert (model.labels_ == labels).all() and abs(model.inertia_ / objective - 1) < 1e-6
        assert abs(model.score(X, sample_weight=given) / model.inertia_ + 1) < 1e-9
        assert (model.predict(X) == labels).all()
    # Whole weights are repetitions, also for random starts.
    for init in "k-means++", "afk-mc2":
        model = KMeans(6, init=init, random_state=2).fit(X, sample_weight=counts)
        other = KMeans(6, init=init, random_state=2).fit(numpy.repeat(X, counts, axis=0))
        assert (numpy.repeat(model.labels_, counts) == other.labels_).all()
        assert numpy.abs(model.cluster_centers_ - other.cluster_centers_).max() < 1e-4
        assert abs(model.inertia_ / other.inertia_ - 1) < 1e-6
    # Rows without weight are no centroids of a start, unless there are no others.
    for init in "k-means++", "random", "k-means||", "afk-mc2":
        some = numpy.where(numpy.arange(400) % 40 == 7, 1 + counts, 0)
        model = KMeans(10, init=init, random_state=2, max_iter=1).fit(X, sample_weight=some)
        assert model.inertia_ < 1e-6 and sorted(model.labels_[7::40]) == list(range(10)), init
model = KMeans(6, init=data[:6], random_state=1).fit(data, sample_weight=2)
assert abs(model.inertia_ / KMeans(6, init=data[:6]).fit(data).inertia_ - 2) < 1e-6
assert (model.fit_predict(data, sample_weight=counts) == model.labels_).all()
assert model.fit_transform(data, sample_weight=list(counts)).shape == (400, 6)
X = (data / 250).astype("f2")
model = KMeans(6, random_state=1).fit(X)

# A restored model, and one with other centroids. Centroids of bytes also serve points that are no bytes.
again = pickle.loads(pickle.dumps(model))
assert (again.predict(X) == model.labels_).all() and again._model()[0].offsets != ffi.NULL
again.cluster_centers_ = model.cluster_centers_[::-1].copy()
assert (again.predict(X) == 5 - model.labels_).all()
again = pickle.loads(pickle.dumps(model))
again.cluster_centers_[:] = model.cluster_centers_[::-1]  # in place
assert (again.predict(X) == 5 - model.labels_).all()
far = numpy.repeat([1e9, 1e9 + 10], 50)[:, None]
again = KMeans(2, random_state=0).fit(far)
again.cluster_centers_ = again.cluster_centers_[::-1]
assert (again.predict(far) == 1 - again.labels_).all() and abs(again.score(far)) < 1e-6
model = KMeans(6, random_state=1).fit(data.round().astype("u1"))
near = model.predict(model.cluster_centers_ + 1e-3)
assert (near == numpy.arange(6)).all()
assert (model.predict(model.cluster_centers_ * 1000 - 1e5).shape == (6,))

# Centroids that are no bytes, for points that are.
X = data.round()
first = X[: len(X) // 6 * 6 : len(X) // 6].copy()
first[0, 0] = -5
assert (KMeans(6, init=first, max_iter=3, tol=0).fit(X).labels_ == lloyd(X, first, 3)[1]).all()

# The rules that end a run, and the seed.
assert KMeans(6, tol=1e9, random_state=1).fit(data).n_iter_ == 1
whole = KMeans(6, tol=0, random_state=numpy.random.RandomState(7)).fit(data)
assert 1 < whole.n_iter_ < 300
assert (KMeans(6, tol=0, random_state=numpy.random.RandomState(7)).fit(data).labels_ == whole.labels_).all()
assert whole.get_params()["n_clusters"] == 6 and whole.set_params(n_clusters=2).n_clusters == 2
assert (whole.fit_predict(data) == whole.labels_).all() and len(set(whole.labels_)) == 2
assert whole.fit_transform(data).shape == (400, 2)

# Each rank has rows of its own, and the last has none: the same bits as of all rows in one process.
counts = [0] * ranks
for i in range(max(ranks - 1, 1)):
    counts[i] = 400 * (i + 1) // sum(range(max(ranks, 2))) if i + 2 < ranks else 400 - sum(counts)
begin = sum(counts[:rank])
for X in data, data.astype("f4"), data.round().astype("u1"):
    mine = X[begin : begin + counts[rank]]
    starts = [("k-means++", "euclidean"), ("random", "cosine"), ("k-means||", "euclidean"), ("afk-mc2", "cosine")]
    for init, metric in starts if X is data else [(X[:6], "euclidean")]:
        alone = KMeans(6, init=init, metric=metric, random_state=3).fit(X)
        # Rank 0's seed counts.
        together = KMeans(6, init=init, metric=metric, random_state=3 + rank, comm=world, n_threads=1 + rank % 2)
        together.fit(mine)
        assert (together.cluster_centers_ == alone.cluster_centers_).all()
        assert (together.labels_ == alone.labels_[begin : begin + counts[rank]]).all()
        assert together.inertia_ == alone.inertia_ and together.n_iter_ == alone.n_iter_
        weights = numpy.sqrt(numpy.arange(400)) * 0.1
        alone.fit(X, sample_weight=weights)
        together.fit(mine, sample_weight=weights[begin : begin + counts[rank]] if counts[rank] else None)
        assert (together.cluster_centers_ == alone.cluster_centers_).all()
        assert (together.labels_ == alone.labels_[begin : begin + counts[rank]]).all()
        assert together.inertia_ == alone.inertia_ and together.n_iter_ == alone.n_iter_
    # A rank without rows may have any type.
    together.fit(mine if counts[rank] else mine.astype(float))
    assert together.cluster_centers_.dtype == (float if X is data else "f4")
    assert (together.predict(mine) == together.labels_).all()
    assert together.score(mine) == -together.inertia_
    assert together.transform(mine).shape == (counts[rank], 6)

# Errors. An error of one rank is raised on all ranks.
for bad in float("nan"), float("inf"), 1e300:
    spoilt = data.copy()
    spoilt[3, 2] = bad
    refused(ValueError, "point 3, feature 2 (counted from 0)", KMeans(6).fit, spoilt)
    refused(ValueError, "point 3, feature 2 (counted from 0)", KMeans(6).fit(data).predict, spoilt)
mine = data[begin : begin + counts[rank]].copy()
if rank == 0:
    mine[0, 0] = float("nan")
refused(ValueError, "point 0, feature 0", KMeans(6, comm=world).fit, mine)
refused(ValueError, "Reshape", KMeans(6, comm=world).fit, data[0] if rank == 0 else data)
if ranks > 1:
    refused(ValueError, "points have 6 features on one rank and 7", KMeans(6, comm=world).fit, data[:, rank == 0 :])
refused(ValueError, "n_samples=5 should be >= n_clusters=6", KMeans(6).fit, data[:5])
refused(ValueError, "n_clusters=0: a number from 1", KMeans(0).fit, data)
refused(ValueError, "max_iter=1.5: a number from 1", KMeans(6, max_iter=1.5).fit, data)
refused(ValueError, "tol=-1: a number from 0", KMeans(6, tol=-1).fit, data)
refused(ValueError, "n_threads", KMeans(6, n_threads=0).fit, data)
refused(ValueError, "n_threads=2.5: None or a number", KMeans(6, n_threads=2.5).fit, data)
refused(ValueError, "metric='manhattan': euclidean or cosine", KMeans(6, metric="manhattan").fit, data)
refused(ValueError, "init='file:x': k-means++", KMeans(6, init="file:x").fit, data)
refused(ValueError, "init has shape (5, 7); (6, 7) is needed", KMeans(6, init=data[:5]).fit, data)
refused(ValueError, "NaN or infinite", KMeans(6, init=data[:6] * float("nan")).fit, data)
refused(ValueError, "Complex data", KMeans(6).fit, data * 1j)
refused(ValueError, "X has 6 features, but KMeans is expecting 7", KMeans(6).fit(data).predict, data[:, 1:])
refused(ValueError, "too far from the centroids", KMeans(6).fit(data).predict, data * 1e20)
refused(ValueError, "not fitted", KMeans(6).predict, data)
refused(ValueError, "no parameter 'clusters'", lambda: KMeans(6).set_params(clusters=3))
for bad in -1, float("nan"), float("inf"):
    spoilt = numpy.ones(400)
    spoilt[9] = bad
    refused(ValueError, "weight 9 (counted from 0) is ", KMeans(6).fit, data, None, spoilt)
refused(ValueError, "weights: all are 0; at least one must be positive", KMeans(6).fit, data, None, 0)
refused(ValueError, "sample_weight has 399 weights, and X has 400 rows", KMeans(6).fit, data, None, spoilt[1:])
refused(ValueError, "1D array or scalar, got 2D", KMeans(6).fit, data, None, spoilt[None])
refused(TypeError, "sparse", KMeans(6).fit, type("sparse", (), {"toarray": None})())


class Unreadable:
    """Raises an error that has no text, and is no ValueError, if used as an array."""

    def __array__(self, *arguments, **named):
        raise KeyError


refused(KeyError if rank == 0 else ValueError, "", KMeans(6, comm=world).fit, Unreadable() if rank == 0 else data)
refused(ValueError, "n_threads=2.5", KMeans(6, comm=world, n_threads=2.5 if rank == 0 else 1).fit, data)
fitted = KMeans(6, comm=world).fit(data)
refused(ValueError, "n_threads=2.5", fitted.set_params(n_threads=2.5 if rank == 0 else 1).predict, data)
refused(ValueError, "x", KMeans(6, comm=world, random_state="x" if rank == 0 else 1).fit, data)
if ranks > 1:
    refused(ValueError, "5 clusters on one rank and 6", KMeans(5 + (rank == 0), comm=world).fit, data)
    first = data[:6] + (rank == 0)
    refused(ValueError, "not the same on all ranks", KMeans(6, comm=world, init=first).fit, data)
    refused(ValueError, "n_samples=", KMeans(5 if rank == 0 else 10**6, comm=world).fit, data)
