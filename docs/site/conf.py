"""What Sphinx makes the site of: `make html`."""

import os

project = "libcoll"
version = release = os.environ["VERSION"]
copyright = "the authors of libcoll"

extensions = ["breathe", "myst_parser"]
breathe_projects = {"libcoll": os.environ["DOXYGEN_XML"]}
breathe_default_project = "libcoll"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False

# The source tree as it is, so that its links lead somewhere here, too.
root_doc = "docs/site/index"
include_patterns = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/site/*.rst", "simulate/report.md"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]

html_theme = "alabaster"
html_theme_options = {"description": "MPI collectives for commodity Ethernet", "page_width": "75em", "sidebar_width": "16em"}
html_extra_path = ["index.html"]
html_show_sourcelink = False
html_show_copyright = False
