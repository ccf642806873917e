# SPDX-License-Identifier: BSD-3-Clause
"""K-means of arrays by libcoll_kmeans, with the interface of scikit-learn's KMeans."""

import os
import sys

import numpy
from mpi4py import MPI

from ._library import handle_type, ffi, handle_of, path

_NAME = "libcoll_kmeans.so.0"
_PROBLEM = 1024
_STARTS = ("k-means++", "random", "k-means||", "afk-mc2")
_METRICS = ("euclidean", "cosine")

ffi.cdef(
    f"""
typedef struct {{ const void *data; size_t rows, dim; int type; const double *weights; }} COLL_Kmeans_points;
typedef struct {{ size_t k; const char *start; const double *centroids; uint64_t seed; int iterations;
    double tolerance; int threads, cosine; }} COLL_Kmeans_settings;
typedef struct {{ size_t k, dim; double *centroids, *offsets; double scale;
    int cosine; }} COLL_Kmeans_model;
int COLL_Kmeans_fit(const COLL_Kmeans_points *, const COLL_Kmeans_settings *, {handle_type}, COLL_Kmeans_model *,
    int32_t *, double *, int *, char *, size_t);
int COLL_Kmeans_predict(const COLL_Kmeans_points *, const COLL_Kmeans_model *, int, {handle_type}, int32_t *,
    double *, char *, size_t);
int COLL_Kmeans_transform(const COLL_Kmeans_points *, const COLL_Kmeans_model *, int, {handle_type}, double *,
    char *, size_t);
"""
)


def _load():
    """Loads libcoll_kmeans as libcoll was: from the folder of that file, or as the loader finds it."""
    name = os.path.join(os.path.dirname(path), _NAME)
    try:
        return ffi.dlopen(name, os.RTLD_NOW | os.RTLD_NODELETE)
    except OSError as error:
        raise ImportError(f"coll: {error}; LD_LIBRARY_PATH names the folder of {_NAME}") from None


_library = _load()


class NotFittedError(ValueError, AttributeError):
    """Raised by methods that need fit first; if scikit-learn is in use, its exception of that name is."""


def _address(array, kind):
    """Returns the address of ARRAY's data as a pointer to KIND. The array must be kept alive."""
    return ffi.cast(kind + " *", array.ctypes.data)


def _matrix(X):
    """Returns X as a two-dimensional array of uint8, float32 or float64 in C order; not copied if it is one."""
    if hasattr(X, "toarray"):
        raise TypeError("sparse matrices are not supported; pass X.toarray()")
    X = numpy.asarray(X)
    if numpy.iscomplexobj(X):
        raise ValueError("Complex data not supported")
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: X.reshape(-1, 1) has a row for "
            "each number, X.reshape(1, -1) is one row"
        )
    if not X.shape[1]:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.dtype == numpy.uint8:
        kind = numpy.uint8
    else:
        kind = numpy.float32 if X.dtype in (numpy.float16, numpy.float32) else numpy.float64
    return numpy.ascontiguousarray(X, dtype=kind)


def _weights(sample_weight, rows):
    """Returns the weights of ROWS rows as an array of float64, or None."""
    if sample_weight is None:
        return None
    weights = numpy.asarray(sample_weight, dtype=numpy.float64, order="C")
    if weights.ndim == 0:
        return numpy.full(rows, weights)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array")
    if len(weights) != rows:
        raise ValueError(f"sample_weight has {len(weights)} weights, and X has {rows} rows; one for each is needed")
    return weights


def _points(X, weights=None):
    """Returns X and WEIGHTS for C. The arrays must be kept alive."""
    kinds = {numpy.dtype("u1"): 0, numpy.dtype("f4"): 1, numpy.dtype("f8"): 2}
    pointer = ffi.NULL if weights is None else _address(weights, "double")
    return ffi.new("COLL_Kmeans_points *", (_address(X, "void"), *X.shape, kinds[X.dtype], pointer))


def _check(code, problem):
    if code:
        text = ffi.string(problem).decode(errors="replace")
        raise (ValueError if code == MPI.ERR_ARG else RuntimeError)(text)


class KMeans:
    """Exact K-means (Lloyd's algorithm), as coll-kmeans does it, with scikit-learn's interface.

    n_clusters    the number of clusters
    init          "k-means++", "random", "k-means||", "afk-mc2", or an array of n_clusters centroids
    max_iter      the most iterations
    tol           stop when the sum of the squared distances that the centroids move is at most TOL times the
                  mean variance of the features
    metric        "euclidean"; or "cosine", which scales rows and centroids to length 1: then half a squared
                  distance is 1 minus the cosine
    random_state  None, or a number or a generator of numpy that determines the choice by INIT
    n_threads     threads of this process; None: its processors, shared fairly with the other ranks
    comm          a communicator of mpi4py whose ranks each pass their own rows; None: this process alone

    sample_weight of fit and score are weights of the rows, numbers from 0 on; None: each weighs 1. A row of weight 3
    counts like three equal rows. The initial centroids are drawn by weight, too.

    With a communicator fit, predict, transform and score are collective. Every rank gets the same centroids,
    and the labels of its own rows. The result has the same bits for any number of ranks and threads.

    After fit there are cluster_centers_, labels_, inertia_ (the weighted sum of the squared distances of all
    points from their centroids), n_iter_ and n_features_in_.
    """

    _estimator_type = "clusterer"
    _parameters = ("n_clusters", "init", "max_iter", "tol", "metric", "random_state", "n_threads", "comm")

    def __init__(
        self,
        n_clusters=8,
        init="k-means++",
        max_iter=300,
        tol=1e-4,
        metric="euclidean",
        random_state=None,
        n_threads=None,
        comm=None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.random_state = random_state
        self.n_threads = n_threads
        self.comm = comm

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in self._parameters}

    def set_params(self, **parameters):
        for name, value in parameters.items():
            if name not in self._parameters:
                raise ValueError(f"KMeans has no parameter {name!r}; it has {', '.join(self._parameters)}")
            setattr(self, name, value)
        return self

    def __repr__(self):
        return f"KMeans({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"

    def _more_tags(self):
        return {
            "_xfail_checks": {
                "check_dataframe_column_names_consistency": "names of columns are not used",
                "check_sample_weights_invariance": "the order of rows decides which centroids are drawn",
            }
        }

    def __sklearn_tags__(self):
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="clusterer", target_tags=TargetTags(required=False), transformer_tags=TransformerTags()
        )

    # --- Arguments for C ---

    def _communicator(self):
        return MPI.COMM_SELF if self.comm is None else self.comm

    def _threads(self):
        count = self.n_threads
        if count is None:
            return 0
        if not isinstance(count, (int, numpy.integer)) or not 1 <= count <= 1024:
            raise ValueError(f"n_threads={count!r}: None or a number from 1 to 1024 is needed")
        return count

    def _seed(self):
        state = self.random_state
        if state is None:
            seed = int.from_bytes(os.urandom(8), "little")
        elif hasattr(state, "integers"):
            seed = int(state.integers(2**63))
        elif hasattr(state, "randint"):
            seed = int(state.randint(2**31 - 1))
        else:
            seed = int(state)
        return seed % 2**64

    def _first_centroids(self, dim):
        """Returns the start's name and None, or "" and the array of centroids."""
        if isinstance(self.init, str):
            if self.init not in _STARTS:
                raise ValueError(f"init={self.init!r}: {', '.join(_STARTS)} or an array is needed")
            return self.init, None
        centroids = numpy.ascontiguousarray(self.init, dtype=numpy.float64)
        if centroids.shape != (self.n_clusters, dim):
            raise ValueError(f"init has shape {centroids.shape}; ({self.n_clusters}, {dim}) is needed")
        if not numpy.isfinite(centroids).all():
            raise ValueError("init has features that are NaN or infinite")
        return "", centroids

    def _check_parameters(self):
        for name in ("n_clusters", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, (int, numpy.integer)) or not 1 <= value < 2**31:
                raise ValueError(f"{name}={value!r}: a number from 1 on is needed")
        self._threads()
        if not 0 <= self.tol < float("inf"):
            raise ValueError(f"tol={self.tol!r}: a number from 0 on is needed")
        if self.metric not in _METRICS:
            raise ValueError(f"metric={self.metric!r}: {' or '.join(_METRICS)} is needed")

    def _model(self):
        """Returns the fitted model for C, and the arrays to keep alive. If cluster_centers_ was changed, the
        stored form of features is derived from the new centroids."""
        if not hasattr(self, "cluster_centers_"):
            error = getattr(sys.modules.get("sklearn.exceptions"), "NotFittedError", NotFittedError)
            raise error("this KMeans is not fitted yet; call fit first")
        published, centroids, offsets, scale = self._fitted
        if not numpy.array_equal(published, self.cluster_centers_):
            centroids, offsets = numpy.ascontiguousarray(self.cluster_centers_, dtype=numpy.float64), None
        model = ffi.new("COLL_Kmeans_model *")
        model.k, model.dim = centroids.shape
        model.centroids = _address(centroids, "double")
        model.cosine = self._cosine
        if offsets is not None:
            model.offsets, model.scale = _address(offsets, "double"), scale
        return model, (centroids, offsets)

    def _together(self, prepare, *arguments):
        """Returns prepare(*arguments). If that fails on one rank, raises an error on all ranks, so that none
        waits for another."""
        comm, result, error = self._communicator(), None, None
        try:
            result = prepare(*arguments)
        except Exception as caught:
            error = caught
        if comm.size > 1:
            for rank, text in enumerate(comm.allgather(error and (str(error) or repr(error)))):
                if text and not error:
                    error = ValueError(f"rank {rank}: {text}")
        if error:
            raise error
        return result

    def _prepare(self, X, sample_weight=None):
        """Returns X, its weights or None, what C needs of the model, and the arrays to keep alive."""
        self._threads()
        model, kept = self._model()
        X = _matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but KMeans is expecting {self.n_features_in_} features as input"
            )
        return X, _weights(sample_weight, len(X)), model, kept

    def _prepare_fit(self, X, sample_weight):
        """Returns X, its weights or None, the seed, the start's name, and the array of initial centroids or
        None."""
        X = _matrix(X)
        self._check_parameters()
        return X, _weights(sample_weight, len(X)), self._seed(), *self._first_centroids(X.shape[1])

    # --- The methods ---

    def fit(self, X, y=None, sample_weight=None):
        """Clusters the rows of X. Returns self."""
        comm = self._communicator()
        X, weights, seed, start, first = self._together(self._prepare_fit, X, sample_weight)
        rows, dim = X.shape
        shares = comm.allgather((rows, self.n_clusters, X.dtype == numpy.float64))
        total, clusters = sum(share[0] for share in shares), max(share[1] for share in shares)
        if total < clusters:
            raise ValueError(f"n_samples={total} should be >= n_clusters={clusters}")
        centroids, offsets = numpy.empty((self.n_clusters, dim)), numpy.empty(dim)
        labels = numpy.empty(rows, dtype=numpy.int32)
        start = ffi.new("char[]", start.encode())
        settings = ffi.new("COLL_Kmeans_settings *")
        settings.k, settings.start = self.n_clusters, start
        settings.seed = comm.bcast(seed)  # otherwise each rank could draw another number
        settings.centroids = ffi.NULL if first is None else _address(first, "double")
        settings.cosine = self.metric == "cosine"
        settings.iterations, settings.tolerance, settings.threads = self.max_iter, self.tol, self._threads()
        model = ffi.new("COLL_Kmeans_model *")
        model.centroids, model.offsets = _address(centroids, "double"), _address(offsets, "double")
        inertia, iterations, problem = ffi.new("double *"), ffi.new("int *"), ffi.new("char[]", _PROBLEM)
        _check(
            _library.COLL_Kmeans_fit(
                _points(X, weights), settings, handle_of(comm), model, _address(labels, "int32_t"), inertia,
                iterations, problem, _PROBLEM,
            ),
            problem,
        )
        self.n_features_in_ = dim
        wide = any(share[0] and share[2] for share in shares)
        self.cluster_centers_ = centroids.astype(numpy.float64 if wide else numpy.float32)
        self._fitted, self._cosine = (self.cluster_centers_.copy(), centroids, offsets, model.scale), model.cosine
        self.labels_, self.inertia_, self.n_iter_ = labels, inertia[0], iterations[0]
        return self

    def _assign(self, X, sample_weight=None):
        X, weights, model, kept = self._together(self._prepare, X, sample_weight)
        labels = numpy.empty(len(X), dtype=numpy.int32)
        inertia, problem = ffi.new("double *"), ffi.new("char[]", _PROBLEM)
        _check(
            _library.COLL_Kmeans_predict(
                _points(X, weights), model, self._threads(), handle_of(self._communicator()),
                _address(labels, "int32_t"), inertia, problem, _PROBLEM,
            ),
            problem,
        )
        return labels, inertia[0]

    def predict(self, X):
        """Returns the number of the nearest centroid of each row of X."""
        return self._assign(X)[0]

    def fit_predict(self, X, y=None, sample_weight=None):
        """Clusters the rows of X and returns their labels."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X):
        """Returns the distance of each row of X from each centroid."""
        X, _, model, kept = self._together(self._prepare, X)
        distances, problem = numpy.empty((len(X), model.k)), ffi.new("char[]", _PROBLEM)
        _check(
            _library.COLL_Kmeans_transform(
                _points(X), model, self._threads(), handle_of(self._communicator()),
                _address(distances, "double"), problem, _PROBLEM,
            ),
            problem,
        )
        return distances.astype(self.cluster_centers_.dtype, copy=False)

    def fit_transform(self, X, y=None, sample_weight=None):
        """Clusters the rows of X and returns their distances from the centroids."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X, y=None, sample_weight=None):
        """Returns the weighted sum of the squared distances of all rows from their centroids, negative."""
        return -self._assign(X, sample_weight)[1]
