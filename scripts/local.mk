# Scripts run from the source tree.
EXTRA_DIST += \
	scripts/check \
	scripts/chooser-score \
	scripts/chooser-score.d/score.awk \
	scripts/netlab \
	scripts/netlab.d/delay.c \
	scripts/netlab.d/enter \
	scripts/netlab.d/first-process \
	scripts/netlab.d/rsh-agent \
	scripts/packages \
	scripts/plot \
	scripts/plot.d/picture.awk \
	scripts/plot.d/rows.awk \
	scripts/quickstart
