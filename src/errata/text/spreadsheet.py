"""A text as a cell of a table that a spreadsheet may open: nothing in it is taken for a formula."""

import re

_LINE_ENDS = re.compile(r"\r\n?")
# what a spreadsheet would take for a formula, also in the wide letters of some keyboards
_FORMULA = re.compile(r"^\s*[=+\-@＝＋－＠]|^[\t\r\n]")


def one_kind_of_line_end(text: str) -> str:
    return _LINE_ENDS.sub("\n", text)


def quoted(text: str) -> str:
    """With an apostrophe in front of what would be a formula; spreadsheets take it for "this is text"."""
    return f"'{text}" if _FORMULA.match(text) else text
