"""What errata quotes is a word of the log, at the place that it names, by the check that reviewers' quotes face."""

import html
import json
import re
from functools import cache
from pathlib import Path

import msgspec
import pytest
from tests.terminal import errata

from errata.model import SourceRef
from errata.review.evidence import PlaceIndex
from errata.sources.inspect_ai.reader import CAPS
from errata.sources.shared.archives import open_archive
from errata.store.attributions import attributions_of
from errata.store.database import open_store
from errata.store.runs import all_runs
from errata.verbs.review_drafts import context_and_view
from errata.verbs.review_worklist import packet_for_reader

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sources"
BELOW = 40
"""Lines of a message below the first."""
ROWS = (".jsonl", ".json", ".ndjson")


def bare(text):
    """Letters and digits: how a file escapes the rest, and pytest's margin, make no difference."""
    for _ in range(2):
        text = text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"^E\s+|[\W_]+", "", html.unescape(text), flags=re.MULTILINE).lower()


@cache
def content(path, member, line, *, is_row):
    """The text of a file or of some lines, and the document that it is."""
    text = ""
    if not member:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    else:
        with open_archive(path, CAPS) as archive:
            text = archive.read(member).decode("utf-8", errors="replace")
    if line:
        text = "\n".join(text.split("\n")[line - 1 : line + (0 if is_row else BELOW)])
    try:
        return text, json.loads(text) if is_row else None
    except ValueError:
        return text, None


@cache
def text_at(origin, ref):
    """A value of a document, a line with what is below it, or a file; None where there is no such place."""
    folders = (origin, *origin.parents[:2])
    path = next((folder / ref.file for folder in folders if (folder / ref.file).is_file()), None)
    if path is None:
        return None
    text, value = content(path, ref.member, ref.line, is_row=(ref.member or ref.file).endswith(ROWS))
    if value is None or not ref.pointer:
        return bare(text)
    for part in ref.pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return bare(json.dumps(value, ensure_ascii=False))


def quoted(value):
    """All that a command quotes: the words, what is named as their place, and the place in the files."""
    if isinstance(value, dict):
        if value.get("quote"):
            ref = SourceRef(**value["ref"]) if value.get("ref") else None
            yield value["quote"], value.get("where") or value.get("place") or "", ref
        if isinstance(value.get("because"), list):
            where, text, stated = value["because"]
            if quote := text.removeprefix(stated).removeprefix(": "):
                yield quote, where, None
        for inner in value.values():
            yield from quoted(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from quoted(inner)


_PLACE = re.compile(r"(?P<file>[^#!]+?)(?:!(?P<member>[^#:]+))?(?::(?P<line>\d+))?(?:#(?P<pointer>.*))?")


def place_named(place):
    found = _PLACE.fullmatch(place)
    file, member, line, pointer = found.groups() if found else (place, "", "", "")
    return SourceRef(file=file, member=member or "", line=int(line) if line else None, pointer=pointer or "")


def holds(text, quote):
    """What was cut ends in an ellipsis, and what was hidden is named."""
    pieces = re.split(r"…|\[redacted[^\]]*\]", quote)
    return all(bare(piece) in text for piece in pieces)


def printed(store, folder):
    """Of each run all that `analyze`, `check`, `failures` and `report` print."""
    analyses = errata("analyze", folder, "--json", "--no-report", "--store", store).rows
    for stored in all_runs(open_store(store)):
        run = stored.run.id
        here = (run, "--json", "--store", store)
        whole = [one for one in analyses if one.get("run_id") == run] + errata("check", *here).rows
        rows = errata("failures", *here).rows
        whole += [msgspec.to_builtins(one) for one in attributions_of(open_store(store), stored.pk).values()]
        yield stored.run, whole, rows, errata("report", *here, "-o", f"{store}.{run}").rows


def not_there(folder, store):
    kinds, opened = set(), None
    for run, whole, rows, reports in printed(store, folder):
        opened = opened or open_store(store)
        places, context = {}, None
        for row in rows:
            # of failures with the same signals in the same kinds of places, one
            own = {(one["name"], re.sub(r"\[.*|.*/|:.*", "", one["where"])) for one in row["signals"]}
            if own <= kinds:
                continue
            kinds |= own
            attempt = row["attempt_id"]
            (shown,) = errata("show", attempt, "--json", "--store", store).rows
            whole.append({name: shown[name] for name in ("attribution", "explanation")})
            context = context or context_and_view(attempt, opened)[0]
            packet = packet_for_reader(attempt, context, opened, blind=False, whole=True)
            places[attempt] = PlaceIndex(packet)
            for quote, where, _ in quoted([row, whole[-1]]):
                in_file = text_at(Path(run.origin), place_named(where))
                if not (
                    all(map(places[attempt].holding, filter(None, quote.split("…"))))
                    or (in_file and holds(in_file, quote))
                ):
                    yield "no place of the packet", where, quote
        for failure in (failure for report in reports for failure in report["report"].get("failures", ())):
            for quote, place, _ in quoted(failure["evidence"]):
                text, index = text_at(Path(run.origin), place_named(place)), places.get(failure.get("attempt_id"))
                if not (holds(text, quote) if text else index is None or index.holding(quote.rstrip("…"))):
                    yield "report", place, quote
        for quote, _, ref in quoted([whole, [report["report"].get("findings") for report in reports]]):
            text = text_at(Path(run.origin), ref) if ref is not None else ""
            if ref is not None and not (text and holds(text, quote)):
                yield "not in the file", str(ref), quote


@pytest.mark.req("N-08")
@pytest.mark.parametrize("source", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_what_is_quoted_stands_at_the_place_that_is_named(source, tmp_path):
    assert [*not_there(FIXTURES / source, tmp_path / "errata.db")] == []
