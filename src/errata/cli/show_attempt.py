"""An attempt on the terminal: the facts, what was measured, what went wrong, what was said."""

from errata.cli.output import money, number, put
from errata.compare.policies import NOT_THE_SUBJECTS
from errata.model import Attempt, Attribution, Check, ErrorInfo, Step
from errata.pipeline.showing import ShownAttempt
from errata.text.clean import clean, one_line

BRIEF_LINES = 12
BRIEF_STEPS = 8


def show_attempt(shown: ShownAttempt, *, full: bool, raw: bool) -> None:
    attempt = shown.attempt
    session = f" · session {attempt.session}" if attempt.session is not None else ""
    put(f"{shown.case_name} · attempt {attempt.index} of {shown.of}{session}{_where_failed(attempt)}", raw=raw)
    spent = attempt.usage.subject
    facts = [f"execution {attempt.execution}", f"measurement {attempt.measurement}", f"outcome {attempt.outcome}"]
    if spent.tokens is not None:
        facts.append(f"{number(spent.tokens)} tokens")
    if attempt.usage.cost is not None:
        facts.append(f"{money(attempt.usage.cost)} {spent.cost_source}")
    put(" · ".join(facts), raw=raw)
    put(f"id {attempt.id}", raw=raw)
    for label, other in (
        ("from", str(attempt.ref or "")),
        ("follows", attempt.follows),
        ("superseded by", attempt.superseded_by),
        ("duplicate of", attempt.duplicate_of),
    ):
        if other:
            put(f"{label} {other}", raw=raw)
    for one in shown.earlier:
        put(f"earlier, session {one.session}: {one.execution}/{one.measurement}/{one.outcome} · id {one.id}", raw=raw)
    if attempt.native_status:
        put(f"the harness says: {one_line(attempt.native_status)}", raw=raw)
    if shown.attribution is not None:
        _owner(shown.attribution, attempt, raw=raw)
    _errors(attempt.errors, full=full, raw=raw)
    _checks(attempt.checks, raw=raw)
    for judgement in attempt.judgements:
        _block(
            f"judge {judgement.judge or judgement.model}{'' if judgement.valid else ' (invalid)'}",
            judgement.reasoning,
            full=full,
            raw=raw,
        )
    if shown.case is not None and shown.case.input:
        _block(
            "task", shown.case.input if isinstance(shown.case.input, str) else str(shown.case.input), full=full, raw=raw
        )
    if attempt.output.text is not None:
        _block("output", attempt.output.text or "(empty)", full=full, raw=raw)
    _steps(attempt.steps, full=full, raw=raw)
    _files(shown, full=full, raw=raw)
    _children(shown.children, full=full, raw=raw)


def _owner(said: Attribution, attempt: Attempt, *, raw: bool) -> None:
    """Who has to act, because of what, and whether a score leaves it out."""
    also = f", also {', '.join(said.also)}" if said.also else ""
    put()
    put(f"Owner    {said.owner}, {said.confidence}{also} (provisional, rule {said.decided_by})", raw=raw)
    deciding = [one for one in said.signals if one.name == said.decided_by] or list(said.signals)
    for at, signal in enumerate([*deciding, *(one for one in said.signals if one not in deciding)]):
        word = "because" if at == 0 else "and"
        put(f"  {word:<8} {signal.name} at {signal.where}", raw=raw)
        if signal.quote:
            put(f"           > {one_line(signal.quote, 86)}", raw=raw)
    labels = ", ".join(f"{label} ({name})" for name, label in said.suggested_labels.items())
    if labels:
        put(f"Label    {labels}: a suggestion", raw=raw)
    left_out = said.owner in NOT_THE_SUBJECTS or attempt.measurement != "scored"
    put(f"Effect   counts in strict{', not in clean' if left_out else ' and in clean'}", raw=raw)


def _where_failed(attempt: Attempt) -> str:
    failed = next((check for check in attempt.checks if check.failed), None)
    if failed is None:
        return ""
    never = sum(check.status == "not_run" for check in attempt.checks)
    told = f"step {failed.order + 1} of {len(attempt.checks)}" if failed.kind == "step" else failed.kind
    return f" · failed at {failed.name} ({told}{f'; {never} never started' if never else ''})"


def _errors(errors: tuple[ErrorInfo, ...], *, full: bool, raw: bool) -> None:
    for error in errors:
        _block(
            f"error {error.type} in {error.phase}{f' · {error.ref}' if error.ref else ''}",
            error.message,
            full=full,
            raw=raw,
        )
        if full and error.traceback:
            _block("traceback", error.traceback, full=True, raw=raw)


def _checks(checks: tuple[Check, ...], *, raw: bool) -> None:
    if checks:
        put()
    for check in checks:
        value = "" if check.value is None or isinstance(check.value, bool) else f" {check.value}"
        told = f"  {one_line(check.explanation, 70)}" if check.explanation and check.status != "pass" else ""
        put(f"  {check.name:<24} {check.status}{value}{told}", raw=raw)


def _steps(steps: tuple[Step, ...], *, full: bool, raw: bool) -> None:
    if not steps:
        return
    shown = steps if full else steps[-BRIEF_STEPS:]
    put()
    put(
        "transcript"
        + ("" if len(shown) == len(steps) else f" (last {len(shown)} of {len(steps)} steps; --full shows all)")
    )
    for step in shown:
        text = clean(step.text) if full else one_line(step.text, 84)
        put(f"  {step.index:>3} {step.actor.role:<10} {text}", raw=raw)
        for call in step.tool_calls:
            put(f"      → {call.name} {one_line(str(call.arguments), 400 if full else 80)}", raw=raw)
            if call.result is not None:
                result = call.result.text or str(call.result.structured)
                put(f"      ← {one_line(result, 400 if full else 80)}", raw=raw)


def _files(shown: ShownAttempt, *, full: bool, raw: bool) -> None:
    files = [*shown.attempt.artefacts, *(shown.case.artefacts if shown.case else ())]
    if not files:
        return
    put()
    put("files" + ("" if full else " (--full shows their texts)"))
    for artefact in files:
        size = f"{artefact.size:,} bytes" if artefact.size is not None else ""
        put(f"  {artefact.role:<10} {artefact.path} {size}", raw=raw)
        if full and artefact.text:
            _block(artefact.path, artefact.text, full=True, raw=raw)


def _children(children: tuple[str, ...], *, full: bool, raw: bool) -> None:
    if not children:
        return
    listed = children if full else children[:BRIEF_STEPS]
    put()
    put("children" + ("" if len(listed) == len(children) else f" ({len(children)}; --full lists all)"))
    for child in listed:
        put(f"  {child}", raw=raw)


def _block(title: str, text: str, *, full: bool, raw: bool) -> None:
    put()
    put(one_line(title), raw=raw)
    lines = clean(text).splitlines()
    for line in lines if full else lines[:BRIEF_LINES]:
        put(f"  > {line if full else one_line(line, 94)}", raw=raw)
    if not full and len(lines) > BRIEF_LINES:
        put(f"  … {len(lines) - BRIEF_LINES} more lines with --full")
