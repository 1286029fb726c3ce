"""The transcript of an attempt: an article for each step, long texts folded, evidence never."""

from collections.abc import Iterable, Iterator, Sequence

from errata.model import Step
from errata.render.blocks_html import page_text
from errata.server.pages.attempt_texts import ENDS, MOST, AttemptTexts, LinedText

FOLDED = 12
"""Lines of a text that are shown before the rest is folded."""
BLOCK = 100
"""Steps of a block; of a longer transcript the first and the last are shown at once."""
AROUND = 6
"""Lines around evidence in a log that are not folded."""
ALIKE = 3
"""Equal calls in a row that fold into one sentence."""
_KINDS = {
    "system": "System",
    "user": "User",
    "assistant": "Agent",
    "tool": "Tool",
    "environment": "Environment",
    "judge": "Judge",
    "simulator": "Simulated user",
}


def has_evidence(passages: Iterable[LinedText]) -> bool:
    return any(passage.spans for passage in passages)


def shown_steps(texts: AttemptTexts, marked: frozenset[int], *, whole: bool) -> list[Step | tuple[int, int]]:
    """Steps, and for those that are left out their first and last number."""
    steps = texts.attempt.steps
    if whole or len(steps) <= BLOCK:
        return list(steps)
    half = BLOCK // 2
    wanted = {*range(half), *range(len(steps) - half, len(steps))}
    for at, step in enumerate(steps):
        if step.index in marked or has_evidence(texts.steps[step.index]):
            wanted.update(range(max(0, at - 1), min(len(steps), at + 2)))
    shown: list[Step | tuple[int, int]] = []
    gap: list[int] = []
    for at, step in enumerate(steps):
        if at not in wanted:
            gap.append(step.index)
            continue
        if gap:
            shown.append((gap[0], gap[-1]))
            gap = []
        shown.append(step)
    return shown


def transcript(
    texts: AttemptTexts, marked: frozenset[int], decisive: dict[int, list[str]], *, path: str, whole: bool = False
) -> str:
    """`marked` are steps that evidence points at without a quote; `decisive` has whose decisive step each is."""
    parts: list[str] = []
    shown = shown_steps(texts, marked, whole=whole)
    at = 0
    while at < len(shown):
        shown_part = shown[at]
        if isinstance(shown_part, tuple):
            parts.append(_left_out(shown_part, path))
            at += 1
            continue
        alike = _run_of_alike(shown[at:], texts, marked, decisive)
        if alike > ALIKE:
            folded = [step for step in shown[at : at + alike] if isinstance(step, Step)]
            parts.append(_alike(folded, texts, marked, decisive))
            at += alike
            continue
        parts.append(step_article(shown_part, texts, marked, decisive))
        at += 1
    return "".join(parts)


def _left_out(numbers: tuple[int, int], path: str) -> str:
    first, last = numbers
    return (
        f'<p class="gap" data-steps="{first}-{last}"><a href="{page_text(path)}?steps=all#step-{first}"'
        f' data-load="{page_text(path)}/steps?from={first}&amp;to={last}">'
        f"Steps {first} to {last} are not shown. Load them</a></p>"
    )


def _run_of_alike(
    shown: Sequence[Step | tuple[int, int]], texts: AttemptTexts, marked: frozenset[int], decisive: dict[int, list[str]]
) -> int:
    """How many steps from the first on make the same call."""
    first = _call_of(shown[0])
    count = 0
    for step in shown:
        if first is None or _call_of(step) != first or not isinstance(step, Step):
            break
        if step.index in marked or step.index in decisive or has_evidence(texts.steps[step.index]):
            break
        count += 1
    return count


def _call_of(step: Step | tuple[int, int]) -> tuple[str, str] | None:
    if not isinstance(step, Step) or len(step.tool_calls) != 1 or step.reasoning:
        return None
    call = step.tool_calls[0]
    values = call.arguments
    main = next((value for value in values.values() if isinstance(value, str)), "") if isinstance(values, dict) else ""
    return call.name, " ".join(main.split())


def _alike(
    steps: Sequence[Step],
    texts: AttemptTexts,
    marked: frozenset[int],
    decisive: dict[int, list[str]],
) -> str:
    name, main = _call_of(steps[0]) or ("", "")
    with_text = f" with <code>{page_text(main, 80)}</code>" if main else ""
    inner = "".join(step_article(step, texts, marked, decisive) for step in steps)
    words = f"Steps {steps[0].index} to {steps[-1].index}: {len(steps)} {page_text(name)} calls{with_text}"
    return f'<details class="same-calls"><summary>{words}</summary>{inner}</details>'


def step_article(step: Step, texts: AttemptTexts, marked: frozenset[int], decisive: dict[int, list[str]]) -> str:
    passages = texts.steps[step.index]
    whose = decisive.get(step.index, [])
    kinds = ["event", "decisive" if whose else "", "evidence" if has_evidence(passages) or step.index in marked else ""]
    badge = f'<b class="badge mark">decisive step of {page_text(" and ".join(whose))}</b>' if whose else ""
    number = f'<a class="no" href="#step-{step.index}" aria-label="Step {step.index}">{step.index}</a>'
    head = (
        f"<h3>{number}<span>{page_text(title_of(step, texts))}</span>"
        f"<time>{page_text(_time(step.started_at))}</time>{badge}"
        f'<span class="numbers">{page_text(_numbers(step))}</span></h3>'
    )
    inner = "".join(_parts(step, passages)) or '<p class="note">Nothing was written in this step.</p>'
    return f'<article class="{" ".join(filter(None, kinds))}" id="step-{step.index}">{head}{inner}</article>'


def title_of(step: Step, texts: AttemptTexts) -> str:
    """The tools that it calls, else who speaks; by name where several agents do."""
    if step.tool_calls:
        return ", ".join(dict.fromkeys(call.name for call in step.tool_calls))
    if step is texts.attempt.steps[0] and step.actor.role == "user":
        return "Task"
    if step.reasoning and not step.text:
        return "Reasoning"
    role = _KINDS.get(step.actor.role, step.actor.role)
    return f"{role} {step.actor.name}" if texts.has_several_agents and step.actor.name else role


def _time(at: str | None) -> str:
    return at[11:19] if at and len(at) >= 19 else ""


def _numbers(step: Step) -> str:
    parts = []
    if step.usage is not None and step.usage.input is not None:
        parts.append(f"{step.usage.input:,} in, {step.usage.output or 0:,} out")
    codes = [call.result.exit_code for call in step.tool_calls if call.result is not None]
    parts += [f"exit {code}" for code in codes if code is not None]
    return " · ".join(parts)


def _parts(step: Step, passages: Sequence[LinedText]) -> Iterator[str]:
    call: list[str] = []
    for passage in passages:
        if passage.kind in ("reasoning", "text", "error"):
            yield f'<div class="{passage.kind}" dir="auto">{folded(passage)}</div>'
            continue
        kind, _, number = passage.kind.partition(" ")
        if kind == "arguments" and call:
            yield f'<div class="call">{"".join(call)}</div>'
            call = []
        name = f"<b>{page_text(step.tool_calls[int(number)].name)}</b>" if kind == "arguments" else ""
        call.append(f'<div class="{kind}" dir="auto">{name}{folded(passage)}</div>')
    if call:
        yield f'<div class="call">{"".join(call)}</div>'
    for part in step.parts:
        yield _media(part)


def _media(part: dict[str, object]) -> str:
    """Never loaded: a box with what it is."""
    kind = str(part.get("type") or part.get("media_type") or "media")
    size = len(str(part))
    return f'<p class="media">[{page_text(kind)}, {size:,} characters in the log; not shown]</p>'


def folded(passage: LinedText) -> str:
    """The first lines, then the rest behind a fold that is open where it holds evidence."""
    lines = list(passage.lines())
    shown = cut_lines(lines, passage)
    if len(shown) <= FOLDED + 2:
        return f"<pre>{_joined(shown, passage)}</pre>"
    rest = shown[FOLDED:]
    is_open = " open" if any(marked for _, _, marked in rest) else ""
    return (
        f"<pre>{_joined(shown[:FOLDED], passage)}</pre><details{is_open}><summary>{len(rest)} more lines</summary>"
        f"<pre>{_joined(rest, passage)}</pre></details>"
    )


Line = tuple[int, str, bool]


def cut_lines(lines: list[Line], passage: LinedText) -> list[Line]:
    """Of a text of more than 200 kB the first and the last lines, and those around evidence."""
    if len(passage.text) <= MOST or len(lines) <= 2 * ENDS:
        return lines
    near = {at for at, (_, _, marked) in enumerate(lines) if marked}
    keep = {*range(ENDS), *range(len(lines) - ENDS, len(lines))}
    for at in near:
        keep.update(range(max(0, at - AROUND), min(len(lines), at + AROUND + 1)))
    return [line for at, line in enumerate(lines) if at in keep]


def _joined(lines: Iterable[Line], passage: LinedText) -> str:
    """Each line has an address of its own; a jump in the numbers is shown."""
    parts, before = [], None
    for number, html, _ in lines:
        if before is not None and number != before + 1:
            parts.append(f'<span class="left-lines">{number - before - 1:,} lines are not shown</span>\n')
        parts.append(f'<span class="l" id="{page_text(passage.address(number))}">{html}</span>\n')
        before = number
    return "".join(parts).removesuffix("\n")


def log_section(path: str, passage: LinedText, *, size: int | None, whole: str = "") -> str:
    """A log with its line numbers; what is far from evidence and from its end is folded.

    `whole` is the address of the page with every line of it; empty where this is that page.
    """
    lines = list(passage.lines())
    marked = [at for at, (_, _, is_marked) in enumerate(lines) if is_marked]
    near = {place for at in marked for place in range(at - AROUND, at + AROUND + 1)}
    near.update(range(len(lines) - AROUND, len(lines)))
    if len(lines) <= 2 * FOLDED:
        near.update(range(len(lines)))
    parts: list[str] = []
    far: list[Line] = []
    for at, line in enumerate(lines):
        if at in near:
            parts.append(_far(far, passage, whole))
            far = []
            parts.append(_numbered(line, passage))
        else:
            far.append(line)
    parts.append(_far(far, passage, whole))
    size_words = f"{size:,} bytes, " if size is not None else ""
    kinds = "event evidence" if marked else "event"
    inner = f'<div class="log">{"".join(parts)}</div>'
    if not marked and len(passage.text) > OPEN:
        inner = f"<details><summary>Show this log</summary>{inner}</details>"
    return (
        f'<article class="{kinds}" id="{page_text(passage.anchor)}"><h3><span>{page_text(passage.anchor)}</span>'
        f'<code>{page_text(path)}</code><span class="numbers">{size_words}{len(lines):,} lines</span></h3>'
        f"{inner}</article>"
    )


OPEN = 4_000
"""Characters of a log without evidence up to which it is not folded."""
LOADED = 2_000
"""Folded lines of a log that are part of the page."""


def _far(lines: list[Line], passage: LinedText, whole: str) -> str:
    if not lines:
        return ""
    if len(lines) > LOADED and whole:
        words = f"{lines[0][0]:,} to {lines[-1][0]:,}"
        target = f"{whole}#{passage.address(lines[0][0])}"
        return f'<p class="gap"><a href="{page_text(target)}">Lines {words} are not shown. Load them</a></p>'
    inner = "".join(_numbered(line, passage) for line in lines)
    words = f"Lines {lines[0][0]:,} to {lines[-1][0]:,}" if len(lines) > 1 else f"Line {lines[0][0]:,}"
    return f'<details class="far"><summary>{words}</summary>{inner}</details>'


def _numbered(line: Line, passage: LinedText) -> str:
    number, html, is_marked = line
    address = page_text(passage.address(number))
    kind = "line hit" if is_marked else "line"
    link = f'<a href="#{address}">{number}</a>'
    return f'<div class="{kind}" id="{address}">{link}<span dir="auto">{html or "&nbsp;"}</span></div>'
