"""Settings of the documentation site; ``make docs`` builds it.

The site needs no network, neither to be built nor to be read: formulas are MathML, and nothing is linked from other
hosts. HIDESEEK_TUTORIALS chooses which tutorials are executed: "none", "quick" (the default) or "all".
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from sphinx_gallery.sorting import ExplicitOrder

from hideseek import __version__

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_extensions"))

project = "hideseek"
author = "The hideseek developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "repository_pages",
    "stored_figures",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_extensions", "tutorials/*", "**/sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!hideseek).*"),  # without a network, other projects' objects have no address
    ("py:.*", r"hideseek\.(\w+\.)*(_\w+|learned)\..*"),  # base classes and what a fit keeps are private
]
suppress_warnings = ["config.cache"]  # gallery settings hold objects that cannot be pickled
keep_warnings = False

# -- Markdown ---------------------------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# -- reference --------------------------------------------------------------------------------------------------------

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
python_display_short_literal_types = True
add_module_names = False
toc_object_entries_show_parents = "hide"

# -- tutorials --------------------------------------------------------------------------------------------------------

QUICK = ("cafe", "mixed_table", "black_box", "larger_than_memory")
"""Tutorials that need no data from elsewhere, and that are done in seconds."""
PUBLISHED = ("credit", "genes", "digits")
"""Tutorials that read published tables."""
EXECUTED = {"none": (), "quick": QUICK, "all": QUICK + PUBLISHED}[os.environ.get("HIDESEEK_TUTORIALS") or "quick"]

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "generated/tutorials",
    "filename_pattern": rf"/({'|'.join(EXECUTED)})\.py$" if EXECUTED else r"\Anone",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": ExplicitOrder([f"{name}.py" for name in ("cafe", "credit", *QUICK[1:], *PUBLISHED[1:])]),
    "copyfile_regex": r"$^",
    "download_all_examples": False,
    "min_reported_time": 1,
    "only_warn_on_example_error": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,  # its page loads scripts from other hosts
    "show_signature": False,
    "ignore_repr_types": r"matplotlib\.(axes|figure)",  # the picture is shown, not the repr of its Axes
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib",),
}

# -- appearance -------------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "hideseek"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "hideseek"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "settings": [], "generated/changelog": []}


def is_inherited_from_scikit_learn(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that scikit-learn adds to every estimator and documents itself, such as ``set_output``."""
    origin = getattr(obj, "__module__", "") or ""
    return True if origin.startswith("sklearn.") or type(obj).__module__.startswith("sklearn.") else None


def setup(app: Any) -> None:
    """Connect what Sphinx asks while it builds."""
    app.connect("autodoc-skip-member", is_inherited_from_scikit_learn)
