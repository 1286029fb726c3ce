"""Which of its runs a heading, a cell or a line of a report names: by id, model, number or a short name."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from errata.memory.reading.markdown import MarkdownPiece
from errata.memory.reading.rates import NUMBER
from errata.memory.reading.run_words import compares
from errata.memory.reading.runs import RunDraft
from errata.memory.spelling import folded, model_name
from errata.text.lazy_regex import lazy_regex

SHORT = 5
"""Characters of an id that people leave when they shorten it."""
_ALIAS_IN_TITLE = lazy_regex(r"(?i)[*`\s]*(?:[a-z]+\s+)?([\w.#-]{1,24})[*`\s:]*")
_CALLED = lazy_regex(r"(?i)\brun[ -]([\w#.-]{1,24})(?![\w-])(?!\s*(?:[,/&+]|and)\s*[A-Z0-9]\b)")
_BY_AGE = lazy_regex(r"(?i)\b(?:(?P<new>new|newer|latest|current|later)|old|older|previous|earlier|former)\s+run\b")
_ALIAS = r"(?:[A-Z]\d?|[Rr]un[ -]?[A-Z0-9]|#\d)"
_LONGEST = 24
LONGEST_TITLE = 10
"""Words of a heading that may name a run by a short name."""
TITLE = 6
"""Words of a title or a cell."""
_ALL = lazy_regex(rf"(?i)\W*(?:both|all|every|each)(?:\s+(?:the|runs?|of them|{NUMBER}))*(?:\s+runs?)?\W*")
_FAILED_IN = lazy_regex(r"(?i)\bfail(?:s|ed|ing)?\s+(?:in|on|for|with|under)\s+([^.;\n]+)")


class ReportRuns:
    """The runs of a report, and which of them a heading, a cell or a line names."""

    def __init__(self, drafts: Sequence[RunDraft], pieces: Sequence[MarkdownPiece] = ()) -> None:
        self.drafts = list(drafts)
        self.aliases = aliases_in(pieces, [one.id for one in drafts]) if len(drafts) > 1 else {}
        own = [one.id for one in drafts if not one.is_other]
        self.default = own[0] if len(own) == 1 < len(drafts) else ""
        """The run that the report is about, where it only compares it with others."""
        names = [one.experiment.casefold() for one in drafts]
        self._by_experiment = {
            name: draft.id for name, draft in zip(names, drafts, strict=True) if name and names.count(name) == 1
        }
        models = [folded(model_name(one.model).base) for one in drafts]
        self._by_model = {model: one.id for model, one in zip(models, drafts, strict=True) if models.count(model) == 1}
        words = Counter(word for model in models for word in set(model.split("-")))
        self._by_word = {
            word: draft.id
            for model, draft in zip(models, drafts, strict=True)
            for word in model.split("-")
            if words[word] == 1 and word.isalpha() and len(word) > 2
        }

    def named_in(self, text: str) -> str:
        """Only where there are several to tell apart."""
        if len(self.drafts) < 2 or not text:
            return ""
        alias = _ALIAS_IN_TITLE.fullmatch(text.strip())
        if alias and (named := self.aliases.get(alias[1].casefold())):
            return named
        if called := self._called_run(text):
            return called
        words = re.findall(r"[\w-]+", text.casefold())
        for draft in self.drafts:
            if any(
                len(word) >= SHORT and (draft.id.casefold().startswith(word) or word == draft.id.casefold())
                for word in words
            ):
                return draft.id
        name = f"-{folded(text)}-"
        fitting = [(len(model), run) for model, run in self._by_model.items() if model and f"-{model}-" in name]
        return max(fitting)[1] if fitting else self._ordinal(text) or self._by_word_in(name)

    def _called_run(self, text: str) -> str:
        """`Failures of run B`, `What the new run adds`: in a title, by a short name behind "run" or by its age."""
        if len(text.split()) > LONGEST_TITLE:
            return ""
        named = {run for match in _CALLED.finditer(text) if (run := self.aliases.get(match[1].casefold()))}
        named = named or {run for name, run in self._by_experiment.items() if _is_named(name, text)}
        age = _BY_AGE.search(text)
        if named or age is None or len(self.drafts) != 2 or compares(text[: age.start()]):
            return named.pop() if len(named) == 1 else ""
        first, second = sorted(self.drafts, key=lambda draft: draft.date)
        return second.id if age["new"] else first.id

    def _by_word_in(self, name: str) -> str:
        """`Only Opus failed`: a word that one model alone has in its name, in a title or cell."""
        words = name.strip("-").split("-")
        named = {run for word in words if (run := self._by_word.get(word))}
        return named.pop() if len(named) == 1 and len(words) <= TITLE else ""

    def all_named_in(self, text: str) -> list[str]:
        """Every run that a cell names; `both` and `all` name all."""
        if _ALL.fullmatch(text):
            return [draft.id for draft in self.drafts]
        parts = [self.named_in(part) for part in re.split(r"[,;/&+]|\band\b", text)]
        return list(dict.fromkeys(filter(None, parts)))

    def failed_in(self, text: str) -> list[str]:
        """`Failed in jn7aa01 and jn7bb02, at eslint`: the runs that a text about one failure names."""
        match = _FAILED_IN.search(text) if len(self.drafts) > 1 else None
        return self.all_named_in(re.sub(r"(?i),?\s+(?:at|in)\s+\w+$|\W+only\b", "", match[1])) if match else []

    def labels_in(self, text: str) -> dict[str, str]:
        """`B: ambiguous task, C: model fault`: what a cell states of single runs."""
        parts = (part.partition(":") for part in re.split(r"[,;\n]|\.\s", text))
        texts = [(run, after.strip()) for before, colon, after in parts if colon for run in self.all_named_in(before)]
        return dict(texts)

    def _ordinal(self, text: str) -> str:
        match = re.search(r"(?i)\b(?:run\s+(?:no\.?\s*|#\s*)?(\d)\b|(first|second|third)\s+run\b)", text)
        if match is None:
            return ""
        at = int(match[1]) - 1 if match[1] else ("first", "second", "third").index(match[2].lower())
        return self.drafts[at].id if 0 <= at < len(self.drafts) else ""


def _is_named(experiment: str, text: str) -> bool:
    """In a title; `default` may be any word, so it has to stand alone, in brackets or before "run"."""
    name = re.escape(experiment)
    is_word = experiment.isalpha()
    form = rf"^\W*{name}\W*$|[(\[]{name}[)\]]|\b{name}\W+(?:runs?|experiment|variant|condition)\b" if is_word else name
    return re.search(rf"(?i)(?<![\w-])(?:{form})(?![\w-])", text) is not None


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
        names += [name.split()[-1] for name in names if re.fullmatch(r"[A-Za-z]+ (?:[A-Z]|\d)", name)]
        yield from (_bare(name) for name in names if name and len(name) <= _LONGEST)


def _bare(name: str) -> str:
    return re.sub(r"^run[ -]?", "", name.casefold())
