EXTRA_DIST += \
	docs/adding.md \
	docs/bcast-25-hosts.png \
	docs/bcast-chain.svg \
	docs/bcast-two_tree-hosts.svg \
	docs/bcast-two_tree.svg \
	docs/building.md \
	docs/choosing.md \
	docs/compatibility.md \
	docs/component.md \
	docs/dcp.md \
	docs/faults.md \
	docs/hlot-figure1.svg \
	docs/kmeans.md \
	docs/labs.md \
	docs/languages.md \
	docs/settings.md \
	docs/topology.md
