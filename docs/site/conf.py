# SPDX-License-Identifier: BSD-3-Clause
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

# The documents as they lie in the source tree, so that their links lead somewhere here, too.
root_doc = "index"
include_patterns = [
    "index.rst",
    "*.md",
    "docs/*.md",
    "docs/site/reference.rst",
    "man/*.rst",
    "simulate/*.md",
]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]
smartquotes = False  # would make one dash of the two that begin an option

html_theme = "alabaster"
html_theme_options = {
    "description": "MPI collectives for commodity Ethernet",
    "page_width": "75em",
    "body_max_width": "none",
    "sidebar_width": "16em",
}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_copyright = False
