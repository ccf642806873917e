# Installed by pip, which builds nothing: see docs/languages.md.
EXTRA_DIST += \
	python/coll/__init__.py \
	python/coll/_buffers.py \
	python/coll/_kmeans.py \
	python/coll/_library.py \
	python/coll/_requests.py \
	python/pyproject.toml
