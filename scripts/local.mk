# Scripts run from the source tree.
EXTRA_DIST += \
	scripts/check \
	scripts/netlab \
	scripts/netlab.d/delay.c \
	scripts/netlab.d/enter \
	scripts/netlab.d/first-process \
	scripts/netlab.d/rsh-agent \
	scripts/packages \
	scripts/plot \
	scripts/plot.d/picture.awk \
	scripts/plot.d/rows.awk \
	scripts/quickstart \
	scripts/simulate

# What scripts/simulate builds, runs and writes.
EXTRA_DIST += \
	simulate/Makefile \
	simulate/allreduce.c \
	simulate/bcast.c \
	simulate/clock.h \
	simulate/expected.txt \
	simulate/figures \
	simulate/hosts \
	simulate/infiniband.cpp \
	simulate/measure \
	simulate/measure-once \
	simulate/polargrid.cpp \
	simulate/popcg.c \
	simulate/report
