EXTRA_DIST += \
	docs/adding.md \
	docs/bcast-25-hosts.png \
	docs/building.md \
	docs/choosing.md \
	docs/compatibility.md \
	docs/dcp.md \
	docs/faults.md \
	docs/hlot-figure1.svg \
	docs/kmeans.md \
	docs/labs.md \
	docs/settings.md \
	docs/topology.md
