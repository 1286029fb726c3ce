"""The scripts and keys of a list: live updates only where the server has a stream of changes."""

from functools import cache

from errata.server.layout import static_file

ROW_KEYS = (("j k", "Next or previous row"), ("↵", "Open it"), ("o", "Open it in a new tab"), ("f", "Filter"))
FAILURE_KEYS = (
    *ROW_KEYS,
    ("J K", "Next or previous group"),
    ("h l", "Fold or unfold the group"),
    ("x X", "Select the row, or all rows up to it"),
    ("b", "Move the selected failures to a cause"),
    ("p", "Passes"),
    ("R", "Review"),
    ("C", "Compare"),
)
RUN_KEYS = (
    *ROW_KEYS,
    ("x X", "Select the run, or all runs up to it"),
    ("C", "Compare the selected runs"),
    ("I", "How to import a run"),
)
PASS_KEYS = (("p", "Failures"),)


@cache
def list_scripts() -> tuple[str, ...]:
    return ("list.js", "list_live.js") if static_file("live.js") is not None else ("list.js",)
