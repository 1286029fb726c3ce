"""How a case went in a run, as a letter: in matrices on pages and in Markdown."""

LETTERS = {"failed": "F", "partial": "F", "passed": ".", "error": "e", "limit": "l", "cancelled": "x", "follows": "c",
           "unscored": "?", "missing": "-", "contradictory": "!", "mixed": "~", "": " "}  # fmt: skip
LEGEND = {"F": "fail", ".": "pass", "e": "no answer", "l": "hit a limit", "x": "cancelled", "c": "knock-on",
          "?": "no verdict", "-": "missing", "!": "contradictory rows", "~": "mixed attempts"}  # fmt: skip
