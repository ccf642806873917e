EXTRA_DIST += \
	docs/adding-an-algorithm.md \
	docs/adding-an-operation.md \
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
	docs/faults.md \
	docs/first-program.md \
	docs/glossary.md \
	docs/hlot-figure1.svg \
	docs/kmeans.md \
	docs/labs.md \
	docs/languages.md \
	docs/papers.md \
	docs/releasing.md \
	docs/rooms.svg \
	docs/settings.md \
	docs/style.md \
	docs/site/comments.awk \
	docs/site/conf.py \
	docs/site/index.html \
	docs/site/index.rst \
	docs/site/reference.rst \
	docs/topology.md

# The documents and what the headers say as a site, in html. Sphinx and Doxygen are for this alone.
html-local:
	@for tool in doxygen sphinx-build; do \
		command -v $$tool >/dev/null || { echo "make html: $$tool not found;" \
			"install doxygen python3-sphinx python3-breathe python3-myst-parser" >&2; exit 1; }; done
	$(AM_V_GEN)mkdir -p html.d && printf '%s\n' QUIET=YES GENERATE_HTML=NO GENERATE_LATEX=NO GENERATE_XML=YES \
		MARKDOWN_SUPPORT=NO WARN_IF_UNDOCUMENTED=NO EXTRACT_ALL=YES TYPEDEF_HIDES_STRUCT=YES \
		OUTPUT_DIRECTORY=html.d STRIP_FROM_PATH=$(srcdir)/include \
		INPUT="$(srcdir)/include/coll.h $(srcdir)/include/coll_tools.h" \
		INPUT_FILTER="awk -f $(srcdir)/docs/site/comments.awk" >html.d/Doxyfile
	$(AM_V_at)doxygen html.d/Doxyfile
	$(AM_V_at)VERSION=$(VERSION) DOXYGEN_XML=$(abs_builddir)/html.d/xml \
		sphinx-build -q -c $(srcdir)/docs/site -d html.d/doctrees $(srcdir) html
	@echo "open html/index.html"
clean-local:
	rm -rf html html.d
