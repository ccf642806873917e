# Installed as they lie in the source tree, so that links between them lead somewhere.
dist_doc_DATA = ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md
docpagesdir = $(docdir)/docs
dist_docpages_DATA = \
	docs/adding-an-algorithm.md \
	docs/adding-an-operation.md \
	docs/allreduce-multi_leader.svg \
	docs/bcast-25-hosts.png \
	docs/collectives-25-hosts.png \
	docs/bcast-chain.svg \
	docs/bcast-two_tree-hosts.svg \
	docs/bcast-two_tree.svg \
	docs/building.md \
	docs/choosing.md \
	docs/compatibility.md \
	docs/component.md \
	docs/dcp.md \
	docs/debugging.md \
	docs/doctor.md \
	docs/faults.md \
	docs/first-program.md \
	docs/glossary.md \
	docs/hlot-figure1.svg \
	docs/kmeans-bound.svg \
	docs/kmeans.md \
	docs/labs.md \
	docs/languages.md \
	docs/packages.md \
	docs/papers.md \
	docs/releasing.md \
	docs/replay.md \
	docs/report.md \
	docs/results.md \
	docs/rooms.svg \
	docs/settings.md \
	docs/style.md \
	docs/topology.md
docsimulatedir = $(docdir)/simulate
dist_docsimulate_DATA = \
	simulate/allgather.png \
	simulate/allreduce.png \
	simulate/alltoall.png \
	simulate/blocking.png \
	simulate/clusters.png \
	simulate/dcp.png \
	simulate/plans.md \
	simulate/plans.png \
	simulate/popcg.png \
	simulate/report.md \
	simulate/trees.png
docexamplesdir = $(docdir)/examples
dist_docexamples_DATA = \
	examples/first.c \
	examples/first.cc \
	examples/first.py \
	examples/first_f08.f90 \
	examples/wordcount.c
EXTRA_DIST += \
	docs/site/comments.awk \
	docs/site/conf.py \
	docs/site/index.rst \
	docs/site/manual.sh \
	docs/site/reference.rst \
	docs/site/site.css

# The documents, the manual pages and what the headers say as a site, in html. Sphinx, Doxygen and pandoc are for this
# alone. html.d/tree has what Sphinx reads: links to the documents and to the files that they refer to.
html-local:
	@for tool in doxygen sphinx-build pandoc; do \
		command -v $$tool >/dev/null || { echo "make html: $$tool not found;" \
			"install doxygen pandoc python3-sphinx python3-breathe python3-myst-parser" >&2; exit 1; }; done
	$(AM_V_GEN)rm -rf html html.d && mkdir -p html.d/tree/man && \
		printf '%s\n' QUIET=YES GENERATE_HTML=NO GENERATE_LATEX=NO GENERATE_XML=YES \
		MARKDOWN_SUPPORT=NO WARN_IF_UNDOCUMENTED=NO EXTRACT_ALL=YES TYPEDEF_HIDES_STRUCT=YES \
		OUTPUT_DIRECTORY=html.d STRIP_FROM_PATH=$(srcdir)/include \
		INPUT="$(srcdir)/include/coll.h $(srcdir)/include/coll_tools.h \
		$(srcdir)/include/coll_kmeans.h" \
		INPUT_FILTER="awk -f $(srcdir)/docs/site/comments.awk" >html.d/Doxyfile
	$(AM_V_at)doxygen html.d/Doxyfile
	$(AM_V_at)ln -s $(abs_srcdir)/*.md $(abs_srcdir)/LICENSE $(abs_srcdir)/debian $(abs_srcdir)/docs \
		$(abs_srcdir)/examples $(abs_srcdir)/include $(abs_srcdir)/simulate $(abs_srcdir)/docs/site/index.rst html.d/tree
	$(AM_V_at)$(abs_srcdir)/docs/site/manual.sh html.d/tree/man $(abs_srcdir)/man/*.[137]
	$(AM_V_at)VERSION=$(VERSION) DOXYGEN_XML=$(abs_builddir)/html.d/xml \
		sphinx-build -q -c $(srcdir)/docs/site -d html.d/doctrees html.d/tree html
	@echo "open html/index.html"
clean-local:
	rm -rf html html.d
