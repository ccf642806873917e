EXTRA_DIST += docs/bcast-25-hosts.png docs/hlot-figure1.svg
