"""Where links of a document lead: the anchors that git hosts make of its titles, and files beside it."""

from errata.render.document import Document, Section, every_section
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import outgoing_line

_NO_ANCHOR = lazy_regex(r"[^\w\- ]")
_FILE = lazy_regex(r"(?!/)[\w%./-]+(?:#[\w%.-]+)?")
UNTITLED = "section"


class Anchors:
    """Every section has an anchor of its own, whatever its title and however many have the same."""

    def __init__(self, document: Document) -> None:
        self._of: dict[int, str] = {}
        self._by_key: dict[str, str] = {}
        self._elsewhere = document.elsewhere
        taken: dict[str, int] = {anchor_of(document.title): 0}
        for section in every_section(document.sections):
            anchor = self._of[id(section)] = _free(anchor_of(section.title) or UNTITLED, taken)
            if section.key:
                self._by_key.setdefault(section.key, anchor)

    def of(self, section: Section) -> str:
        return self._of[id(section)]

    def target(self, wanted: str) -> str:
        """Where a link leads; empty where it leads nowhere in this document, or out of its folder."""
        if wanted.startswith("#"):
            anchor = self._by_key.get(wanted[1:], "")
            return f"#{anchor}" if anchor else self._elsewhere.get(wanted[1:], "")
        return wanted if _FILE.fullmatch(wanted) and ".." not in wanted.split("/") else ""


def anchor_of(title: str) -> str:
    return _NO_ANCHOR.sub("", outgoing_line(title).lower()).replace(" ", "-")


def _free(anchor: str, taken: dict[str, int]) -> str:
    """As git hosts number what is there already: `a`, `a-1`, `a-2`."""
    free = anchor
    while free in taken:
        taken[anchor] += 1
        free = f"{anchor}-{taken[anchor]}"
    taken[free] = 0
    return free
