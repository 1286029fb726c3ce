"""Short names that a report gives to its runs: "A is jn7f51cb", a column `A` over the id."""

import re
from collections.abc import Iterator, Sequence

from errata.memory.reading.markdown import MarkdownPiece

_ALIAS = r"(?:[A-Z]\d?|[Rr]un[ -]?[A-Z0-9]|#\d)"
_LONGEST = 24


def aliases_in(pieces: Sequence[MarkdownPiece], ids: Sequence[str]) -> dict[str, str]:
    """Name in lower case → id. A name that two runs have is none."""
    aliases: dict[str, str] = {}
    for run in ids:
        for name in {one for piece in pieces for one in _names(piece, run)}:
            aliases[name] = "" if aliases.get(name, run) != run else run
    return {name: run for name, run in aliases.items() if run}


def _names(piece: MarkdownPiece, run: str) -> Iterator[str]:
    if piece.kind == "row":
        yield from _of_row(piece, run)
        return
    if run not in piece.text:
        return
    text = piece.text.replace("`", "")
    before = re.search(rf"(?<![\w-])({_ALIAS})\s*(?:is|=|:|→|means|stands for)\s*(?:run\s+)?{re.escape(run)}", text)
    behind = re.search(rf"{re.escape(run)}[\w…]*\s*(?:[(\[]|=\s*)({_ALIAS})(?![\w-])", text)
    yield from (_bare(match[1]) for match in (before, behind) if match)


def _of_row(piece: MarkdownPiece, run: str) -> Iterator[str]:
    """The title of the column with the id, or a cell beside it."""
    for at, cell in enumerate(piece.cells):
        if not cell.text.strip().strip("`….").startswith(run):
            continue
        title = piece.header[at].strip(" *`") if at < len(piece.header) else ""
        others = [other.text.strip(" *`") for other in piece.cells if other is not cell]
        names = [title] if len(others) and re.search(r"(?i)\brun", piece.cells[0].text) else []
        names += [text for text in others if re.fullmatch(_ALIAS, text)]
        yield from (_bare(name) for name in names if name and len(name) <= _LONGEST)


def _bare(name: str) -> str:
    return re.sub(r"^run[ -]?", "", name.casefold())
