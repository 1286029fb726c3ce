"""A gate or a comparison as a comment on a pull or merge request: short, bounded, and found again by its marker."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Literal

from errata.compare.changes import CaseChange
from errata.compare.gate import Gate
from errata.compare.scores import POLICY_NAMES
from errata.model import StoredRun
from errata.model.gate import CodeRef
from errata.model.run import subject_label
from errata.render.document import Block, Code, LineContent, OwnerName, Strong, items, line, marked, paragraph, table
from errata.render.figures import plural
from errata.render.markdown import blocks_to_markdown
from errata.render.markdown_text import GAP, inline_text
from errata.report.gate_words import CaseGroup, fixed_word, groups, headline, notes, rates_of, reasons, score_words
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import short_line

Forge = Literal["github", "gitlab", "markdown"]
MOST = 60_000
"""Characters; GitHub takes 65,536."""
RESERVED = 2_000
"""For what follows the last group."""
NAME, REASON, DETAILS = 300, 240, 20
_REFERENCES = lazy_regex(r"(?<![\w&])([!%$&~])(?=\d)")
"""What GitLab takes for a merge request, milestone, snippet, epic or label."""
_ADDRESS = lazy_regex(r"https?://[^\s()<>\"'`]+")


def marker_of(stored: StoredRun) -> str:
    """The same for every run of a suite by a subject, so that the next comment replaces this one."""
    run = stored.run
    what = "\0".join((run.suite, run.subject.model, run.subject.agent, *map(str, sorted(run.variant.items()))))
    return f"<!-- errata:{blake2b(what.encode(), digest_size=8).hexdigest()} -->"


def comment_of(gate: Gate, forge: Forge, *, is_gate: bool = True, job: str = "", ref: CodeRef | None = None) -> str:
    """At most `MOST` characters; what does not fit is counted, and `job` leads to the rest."""
    title = headline(gate) if is_gate else _comparison_title(gate)
    head = "\n\n".join(
        [
            *([] if forge == "markdown" else [marker_of(gate.given.run)]),
            f"### {inline_text(title)}",
            blocks_to_markdown(_head(gate, ref, is_gate=is_gate)),
        ]
    )
    parts = [head[: MOST - RESERVED]]
    left = MOST - RESERVED - len(head)
    hidden = 0
    for group in groups(gate):
        text, missing = _group(group, left)
        parts += [text] if text else []
        left -= len(text) + 2
        hidden += missing
    made = "\n\n".join(parts)
    if forge == "gitlab":
        made = _REFERENCES.sub(rf"\1{GAP}", made)
    return f"{made}\n\n{_tail(hidden, job)}\n"


def _comparison_title(gate: Gate) -> str:
    changes = gate.given.changes
    fixed = len(changes.of("fixed")) if changes is not None else 0
    return f"{plural(len(gate.new), 'case')} regressed, {fixed:,} {fixed_word(gate).lower()}"


def _head(gate: Gate, ref: CodeRef | None, *, is_gate: bool) -> Iterator[Block]:
    given = gate.given
    run = given.run.run
    what = [part for part in (run.suite, subject_label(run)) if part]
    code = [one for one in ((ref.branch, ref.commit[:8]) if ref is not None else ()) if one]
    at = f" ({', '.join(code)})" if code else ""
    against = line("; baseline ", Code(given.baseline.run.native_id)) if given.baseline is not None else ()
    yield paragraph(Strong(" · ".join(what) or run.source.name), ": run ", Code(run.native_id), at, against)
    sentences = [*(reasons(gate) if is_gate else ()), *notes(gate)]
    if sentences:
        yield items(marked(_short(one, 600)) for one in sentences)
    yield _scores(gate)


def _scores(gate: Gate) -> Block:
    given = gate.given
    columns = [scores for scores in (given.baseline_scores, given.scores) if scores]
    rows = [
        (policy.replace("_", " "), *(score_words(scores[policy]) for scores in columns))
        for policy in POLICY_NAMES
        if given.scores[policy].total
    ]
    header = ("score, 95 % interval", *(("baseline",) if given.baseline_scores else ()), "this run")
    return table(header, rows)


def _group(group: CaseGroup, room: int) -> tuple[str, int]:
    """As many of its cases as there is room for, and how many there is none for."""
    has_rates = any(map(rates_of, group.cases))
    header = ("case", "owner", *(("passed",) if has_rates else ()), "why")
    if not any(one.failure.owner for one in group.cases):
        header = ("case", *(("passed",) if has_rates else ()))
    rows, size = [], 400
    for change in group.cases:
        row = _row(change, header)
        size += len(blocks_to_markdown([table(header, [row])])) - len(blocks_to_markdown([table(header, [])]))
        if size > room:
            break
        rows.append(row)
    missing = len(group.cases) - len(rows)
    if not rows:
        return "", missing
    note = f"{group.note} The first {len(rows):,} are listed." if missing else group.note
    inner = blocks_to_markdown([paragraph(note), table(header, rows)])
    if group.is_open and len(rows) <= DETAILS:
        return f"**{inline_text(group.title)}**\n\n{inner}", missing
    return f"<details>\n<summary>{inline_text(group.title)}</summary>\n\n{inner}\n\n</details>", missing


def _row(change: CaseChange, header: Sequence[str]) -> tuple[LineContent, ...]:
    failure = change.failure
    presumed = " (presumed)" if failure.is_presumed else ""
    cells: dict[str, LineContent] = {
        "case": Code(_short(change.name, NAME)),
        "owner": line(OwnerName(failure.owner), presumed) if failure.owner else "",
        "passed": rates_of(change),
        "why": marked(_short(failure.reason, REASON)),
    }
    return tuple(cells[name] for name in header)


def _short(text: str, most: int) -> str:
    return short_line(text, most)


def _tail(hidden: int, job: str) -> str:
    where = f"[the job]({job})" if _ADDRESS.fullmatch(job) else "the output of the job"
    more = f"{plural(hidden, 'more case')} did not fit; {where} lists them all. " if hidden else ""
    page = f"Details: {where}. " if not hidden and _ADDRESS.fullmatch(job) else ""
    return f"<sub>{more}{page}Owners come from rules until a failure is reviewed. Written by errata.</sub>"
