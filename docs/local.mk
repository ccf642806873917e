EXTRA_DIST += docs/bcast-25-hosts.png
