EXTRA_DIST += docs/adding.md docs/bcast-25-hosts.png docs/compatibility.md docs/hlot-figure1.svg
