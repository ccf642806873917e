EXTRA_DIST += \
	docs/bcast-25-hosts.png \
	docs/choosing.md \
	docs/compatibility.md \
	docs/hlot-figure1.svg \
	docs/settings.md
