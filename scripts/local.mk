# coll-run is installed only with the library that it preloads.
if HAVE_PMPI
bin_SCRIPTS = coll-run
endif
# With the MPI ABI, coll-run asks the launcher to which MPI library it belongs.
if OPEN_MPI
launcher = openmpi
else
if MPI_ABI
launcher = any
else
launcher = mpich
endif
endif
coll-run: scripts/coll-run.in Makefile
	$(AM_V_GEN)sed -e 's|[@]libdir@|$(libdir)|g' -e 's|[@]VERSION@|$(VERSION)|g' \
		-e 's|[@]componentdir@|$(OMPI_COMPONENT_DIR)|g' -e 's|[@]MPIRUN@|$(MPIRUN)|g' \
		-e 's|[@]launcher@|$(launcher)|g' \
		$(srcdir)/scripts/coll-run.in >$@ && chmod +x $@
CLEANFILES += coll-run

# install-component is installed next to the component.
if HAVE_OMPI_COMPONENT
besidelibrarydir = $(pkglibdir)
dist_besidelibrary_SCRIPTS = scripts/install-component
endif

# The other scripts run from the source tree.
EXTRA_DIST += \
	scripts/applications \
	scripts/applications.d/calls.awk \
	scripts/applications.d/clock.c \
	scripts/applications.d/dcp-picture.awk \
	scripts/applications.d/dcp-table.awk \
	scripts/applications.d/dcp.sh \
	scripts/applications.d/json.awk \
	scripts/applications.d/lab \
	scripts/applications.d/picture.awk \
	scripts/applications.d/table.awk \
	scripts/applications.d/programs/abinit.sh \
	scripts/applications.d/programs/cp2k.sh \
	scripts/applications.d/programs/espresso.sh \
	scripts/applications.d/programs/gromacs.sh \
	scripts/applications.d/programs/hpcc.c \
	scripts/applications.d/programs/hpcc.sh \
	scripts/applications.d/programs/lammps.sh \
	scripts/applications.d/programs/mpb.sh \
	scripts/applications.d/programs/mpi4py.sh \
	scripts/applications.d/programs/petsc.sh \
	scripts/applications.d/programs/petsc_pipelined.sh \
	scripts/applications.d/programs/popcg.sh \
	scripts/applications.d/programs/popcg_pipelined.sh \
	scripts/applications.d/programs/silicon.psp \
	scripts/bench.d/field.awk \
	scripts/check \
	scripts/check-rooms \
	scripts/check-threads \
	scripts/chooser-score \
	scripts/chooser-score.d/draw.awk \
	scripts/chooser-score.d/exact.awk \
	scripts/chooser-score.d/random.awk \
	scripts/chooser-score.d/random.sh \
	scripts/chooser-score.d/score.awk \
	scripts/coll-run.in \
	scripts/compare-collectives \
	scripts/compare-collectives.d/table.awk \
	scripts/compare-kmeans \
	scripts/compare-kmeans.d/compare.py \
	scripts/compare-kmeans.d/rival.py \
	scripts/doctor-score \
	scripts/draw-kmeans-bound \
	scripts/fuzz \
	scripts/hooks/pre-commit \
	scripts/netlab \
	scripts/netlab.d/delay.c \
	scripts/netlab.d/enter \
	scripts/netlab.d/first-process \
	scripts/netlab.d/rsh-agent \
	scripts/netlab.d/slurm-daemons \
	scripts/netlab.d/slurm.sh \
	scripts/packages \
	scripts/platforms \
	scripts/plot \
	scripts/plot.d/picture.awk \
	scripts/plot.d/rows.awk \
	scripts/quickstart \
	scripts/simulate \
	scripts/tables \
	scripts/vocabulary \
	scripts/watch-errors \
	scripts/wrapper-cost

# The files that scripts/simulate builds, runs and reads; docs/local.mk has what it writes.
EXTRA_DIST += \
	simulate/Makefile \
	simulate/aggregate.c \
	simulate/allreduce.c \
	simulate/claims.txt \
	simulate/clock.h \
	simulate/collective.c \
	simulate/ethernet.cpp \
	simulate/expected.txt \
	simulate/fatnodes.cpp \
	simulate/fft.c \
	simulate/figures \
	simulate/grid.cpp \
	simulate/hosts \
	simulate/iallreduce.c \
	simulate/infiniband.cpp \
	simulate/lab \
	simulate/measure \
	simulate/measure-once \
	simulate/measured.txt \
	simulate/plans \
	simulate/polargrid.cpp \
	simulate/popcg.c \
	simulate/predict.c \
	simulate/report \
	simulate/zones.hpp
