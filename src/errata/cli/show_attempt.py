"""An attempt on the terminal: where it failed, its owner by verdict and by triage, then the evidence."""

from errata.cli.fitting import WIDTH, columns
from errata.cli.output import money, number, plural, put, put_command, put_quote
from errata.cli.render.fields import visible_name
from errata.cli.render.history import put_before
from errata.cli.show_evidence import put_evidence, where_it_failed
from errata.model import Attempt, Attribution, BucketCounts, BucketPlace, Fix, Output, Signal, Verdict
from errata.model.standing import AttemptReview
from errata.model.verdict import OF_TASK, word_for
from errata.model.words import NO_TRIAL
from errata.render.figures import mean_words
from errata.render.proof import proof_words
from errata.runs.explanation import BY_DEFAULT, Explanation, Reason
from errata.runs.failures import words_below
from errata.runs.show import ShownAttempt, short_name
from errata.text.lazy_regex import lazy_regex
from errata.text.shell import command_line
from errata.triage.not_used import NotUsed


def show_attempt(shown: ShownAttempt, *, full: bool, raw: bool) -> None:
    attempt = shown.attempt
    session = f"session {attempt.session}" if attempt.session is not None else ""
    # the sessions below are attempts, too
    place = "" if shown.earlier and shown.of == 1 else shown.place
    place = "planned, but not in the log" if attempt.execution == "missing" else place
    parts = [visible_name(shown.case_name), place, session, where_it_failed(attempt)]
    put(" · ".join(part for part in parts if part), raw=raw)
    put(" · ".join(_facts(attempt)), raw=raw, colour=[attempt.outcome])
    for relation in _relations(shown):
        put(relation, raw=raw)
    if shown.review is not None:
        put()
        put_verdict(shown.review, stale=shown.stale, raw=raw)
    if shown.attribution is not None and shown.explanation is not None:
        put()
        put_owner(shown, shown.attribution, shown.explanation, raw=raw)
    if shown.before is not None:
        reason = shown.attribution.proof_reason if shown.attribution is not None else ""
        unlike = reason in ("no_other_result", "task_differs")
        put_before(shown.before, shown.alike, raw=raw, comparable=not unlike)
    put_evidence(shown, full=full, raw=raw)
    put()
    if shown.bucket is not None:
        put(f"bucket   {shown.bucket.slug} ({_bucket_state(shown.bucket, shown.bucket_counts)})", hang=9, raw=raw)
    put(f"id       {attempt.id}", hang=9, raw=raw)
    if attempt.ref is not None:
        put(f"from     {attempt.ref}", hang=9, raw=raw)
    if attempt.thinned:
        put(f"steps    Thinned on {attempt.thinned[:10]}: only cited steps are kept", hang=9, raw=raw)
    if attempt.native_status:
        put(f"status   {attempt.native_status}   (as recorded by the harness)", hang=9, raw=raw)


def _bucket_state(bucket: BucketPlace, counts: BucketCounts | None) -> str:
    """Its status, and how many of its failures that rests on."""
    state: str = bucket.status
    if counts is not None and counts.read and counts.read < counts.mistakes:
        state += f", {counts.read:,} of {counts.mistakes:,} failures reviewed"
    return f"{state}, this failure not reviewed" if bucket.is_apart else state


def _facts(attempt: Attempt) -> list[str]:
    spent = attempt.usage.subject
    execution = f"execution {attempt.execution}{_without_output(attempt)}"
    facts = [execution, f"measurement {attempt.measurement}", f"outcome {attempt.outcome}"]
    facts += [f"value {mean_words(attempt.value)}"] if attempt.value is not None else []
    if spent.tokens is not None:
        facts.append(f"{number(spent.tokens)} tokens")
    if spent.cost is not None:
        facts.append(f"{money(spent.cost)} {spent.cost_source}")
    if attempt.usage.cost is not None and attempt.usage.cost != spent.cost:
        roles = {"judge": attempt.usage.judge.cost, "simulated user": attempt.usage.simulator.cost}
        others = " and ".join(role for role, cost in roles.items() if cost is not None)
        amount = money(attempt.usage.cost)
        facts.append(f"{amount} with {others}" if spent.cost is not None else f"{amount} for the {others} alone")
    return facts


def _without_output(attempt: Attempt) -> str:
    """A scorer only runs after the subject has answered, but a log may drop the answer if the scorer breaks."""
    is_dropped = attempt.execution == "completed" and attempt.measurement == "error" and attempt.output == Output()
    return " (its output is not in the log)" if is_dropped else ""


def _relations(shown: ShownAttempt) -> list[str]:
    attempt = shown.attempt
    named = (
        ("follows from", attempt.follows),
        ("superseded by", attempt.superseded_by),
        ("duplicate of", attempt.duplicate_of),
        ("part of", attempt.parent),
    )
    relations = [f"{word} {short_name(shown, other)}" for word, other in named if other]
    relations += filter(None, [NO_TRIAL.get(attempt.origin)])
    for earlier in shown.earlier:
        result = _RESULTS.get(earlier.outcome, "not measured")
        relations.append(f"session {earlier.session}: {result} (execution {earlier.execution}) · id {earlier.id}")
    if shown.failed:
        command = command_line(["errata", "show", f"{shown.handle}/{shown.case_name}#{shown.failed[0]}"])
        others = "other row", "other rows"
        others = others if shown.rows else ("other attempt at this case", "other attempts at this case")
        relations.append(f"{plural(len(shown.failed), *others)} failed: `{command}`")
    return relations


_RESULTS = {"pass": "passed", "fail": "failed", "partial": "partly passed", "number": "measured"}


INDENT = 12
QUOTE_LINES = 4
AGAINST = "but"


def put_owner(shown: ShownAttempt, attribution: Attribution, explanation: Explanation, *, raw: bool) -> None:
    # after a review, the owner comes from the verdict
    label, state = ("Owner", "not reviewed; ") if shown.review is None else ("Triage", "")
    is_silent = _is_silent(shown.attempt, attribution, explanation)
    if is_silent:
        decided = f"{attribution.owner}: {_NO_DETAIL[shown.attempt.outcome == 'fail']}"
    else:
        # without a suite, attempts are not compared with each other
        words = proof_words(attribution, repeated=shown.of > 1 and bool(shown.stored.run.suite))
        decided = f"{attribution.owner}, {words} ({state}{_by(attribution, explanation)})"
    put(f"{label:<8} {decided}", hang=9, raw=raw, colour=[attribution.owner])
    if attribution.decided_by not in BY_DEFAULT:
        put(f"         {explanation.meaning}", hang=9, raw=raw)
    seen: set[str] = set()
    if not is_silent:
        _because(shown, explanation, seen, raw=raw)
    _put_judge(shown.refused, raw=raw)
    for word, reasons in (("and", explanation.supports), (AGAINST, explanation.against)):
        for reason in reasons:
            _reason(word, reason, shown.attempt, seen, raw=raw)
    _not_used(explanation.not_used, raw=raw)
    if attribution.suggested_labels:
        put(f"Label    {_labels(attribution.suggested_labels)}", hang=9, raw=raw)
    put(f"Counted  {explanation.effect.text}", hang=9)
    _next(shown, explanation)


_NO_DETAIL = {
    True: "the attempt failed, and the log has no detail",
    False: "the attempt was not measured, and the log has no detail",
}


def _is_silent(attempt: Attempt, attribution: Attribution, explanation: Explanation) -> bool:
    """Whether neither a rule nor an error explains the failure: then there is nothing to quote."""
    is_known = attribution.decided_by != "nothing known" or attempt.errors or explanation.decided
    return not is_known and not explanation.because.text


def _by(attribution: Attribution, explanation: Explanation) -> str:
    if attribution.decided_by == "check_failed" and attribution.proof == "shown":
        return "no rule names another owner"
    if attribution.decided_by == "check_failed":
        return "default owner" if attribution.proof_reason == "in_doubt" else "default owner: no rule names another"
    if attribution.decided_by in BY_DEFAULT:
        return explanation.meaning
    version = attribution.rules_version.partition("-")[0]
    return f"rule {attribution.decided_by}{f' v{version}' if version else ''}"


def _put_judge(below: Attempt | None, *, raw: bool) -> None:
    """A judge's reason for a run below a failure that has none of its own."""
    if below is not None and (reasoning := words_below(below)):
        session = f"session {below.session}" if below.session is not None else ""
        place = " · ".join(filter(None, (below.path, session, str(below.ref or ""))))
        put(f"  judge     {place}", hang=INDENT, raw=raw)
        put_quote(reasoning, indent=INDENT, most=QUOTE_LINES, raw=raw)


def _because(shown: ShownAttempt, explanation: Explanation, seen: set[str], *, raw: bool) -> None:
    decided, follows = explanation.decided, shown.attempt.follows
    if decided is not None and decided.where == "follows" and follows:
        put(f"  because   follows from {short_name(shown, follows)}", hang=INDENT, raw=raw)
        seen.add(decided.words)
        return
    quote = explanation.because
    if not quote.text and shown.refused is not None:
        return  # the judge's words are the reason, and the place of a check without words shows nothing
    if not quote.text:
        place = _place(decided, shown.attempt) if decided else "no further detail in the log"
    else:
        place = _place(decided, shown.attempt) if decided and decided.where == quote.where else quote.where
    put(f"  because   {place}", hang=INDENT, raw=raw)
    if quote.text:
        # quote a text once, even if a signal has more of it than its best line
        seen |= {quote.text, decided.words if decided else ""}
        _put_words(quote.stated, quote.quote, raw=raw)
    if decided is not None and decided.name not in BY_DEFAULT and decided.where != quote.where and quote.text:
        put(f"{'':<{INDENT}}{_place(decided, shown.attempt)}", hang=INDENT, raw=raw)
        _put_words(decided.stated, decided.quote, raw=raw)


def _put_words(stated: str, quote: str, *, raw: bool) -> None:
    """A quote behind `>`; what errata states from facts of the log without it."""
    if stated:
        put(f"{'':<{INDENT}}{stated}", hang=INDENT, raw=raw)
    if quote:
        put_quote(quote, indent=INDENT, most=QUOTE_LINES, raw=raw)


def _place(signal: Signal, attempt: Attempt) -> str:
    """The field, and its place in the log."""
    ref = signal.ref
    if ref is None or _FILE_LINE.search(signal.where):
        return signal.where
    place = f"{signal.where} · {ref}"
    if columns(place) <= WIDTH - INDENT or attempt.ref is None or not ref.pointer:
        return place
    # the file name is printed at the end; do not repeat a long one here
    return f"{signal.where} · #{ref.pointer}" if ref.file == attempt.ref.file else place


_FILE_LINE = lazy_regex(r":\d+$")


def _reason(word: str, reason: Reason, attempt: Attempt, seen: set[str], *, raw: bool) -> None:
    """The reason, then its place and quote unless already shown."""
    signal = reason.signal
    strength = f", {signal.strength}" if signal and word == AGAINST else ""
    put(f"  {word:<9} {reason.text}{f' ({signal.name}{strength})' if signal else ''}", hang=INDENT, raw=raw)
    if signal is not None and signal.words and not any(signal.words in text for text in seen):
        seen.add(signal.words)
        put(f"{'':<{INDENT}}{_place(signal, attempt)}", hang=INDENT, raw=raw)
        _put_words(signal.stated, signal.quote, raw=raw)


def _labels(suggested: dict[str, str]) -> str:
    """Each label once, with its taxonomies. A label without a verdict is errata's suggestion."""
    taxonomies: dict[str, list[str]] = {}
    for name, label in suggested.items():
        taxonomies.setdefault(label, []).append(name)
    listed = (f"{label} (taxonomy {', '.join(names)})" for label, names in taxonomies.items())
    return f"{', '.join(listed)}, suggested by rules"


def _not_used(unused: tuple[NotUsed, ...], *, raw: bool) -> None:
    """One sentence for each rule, with every place where its words occur."""
    by_rule: dict[str, list[NotUsed]] = {}
    for rule_hit in unused:
        by_rule.setdefault(rule_hit.rule, []).append(rule_hit)
    for rule, hits in by_rule.items():
        places = " and ".join(f'"{hit.quote}" in {hit.where}' for hit in hits)
        put(f"  not used  {places}: rule {rule} reads only {hits[0].looks_at}", hang=INDENT, raw=raw)


def _next(shown: ShownAttempt, explanation: Explanation) -> None:
    if explanation.repeatable:
        put_command("Next", ["errata", "rerun", shown.handle, "--case", shown.case_name])
    elif explanation.effect.recovered:
        put_command("Next", ["errata", "sessions", shown.handle], "list what each session measured")


QUOTES, LINES, FIX_LINES = 4, 6, 20


def put_verdict(review: AttemptReview, *, stale: bool, raw: bool) -> None:
    verdict, stood = review.standing.verdict, review.standing
    source = "the verdict on its task" if OF_TASK in verdict.extra else "the same crash"
    state = f"inherited from {source}" if verdict.inherited_from else "" if stood.final else "not final"
    when = (verdict.at or "")[:10]
    changed = "evidence changed since" if stale else ""
    who = ", ".join(part for part in (word_for(verdict.reviewer), when, state, changed) if part)
    also = f", also {', '.join(verdict.also)}" if verdict.also else ""
    put(
        f"Verdict  {verdict.label} · {verdict.owner}, {verdict.confidence}{also} ({who})",
        hang=9,
        raw=raw,
        colour=[verdict.owner],
    )
    put(f"  cause     {verdict.cause}", hang=INDENT, raw=raw)
    if verdict.reasoning:
        put(f"  why       {verdict.reasoning}", hang=INDENT, raw=raw)
    if verdict.underlying_mistake:
        put(f"  mistake   {verdict.underlying_mistake}", hang=INDENT, raw=raw)
    if step := decisive_in_words(verdict):
        put(f"  step      {step}", hang=INDENT, raw=raw)
    for consequence in verdict.consequences:
        put(f"  leads to  {consequence}", hang=INDENT, raw=raw)
    for quote in verdict.evidence[:QUOTES]:
        lines = f":{quote.lines[0]}" if quote.lines else ""
        put(f"  evidence  {quote.place}{lines}", hang=INDENT, raw=raw)
        put_quote(quote.quote, indent=INDENT, most=LINES, raw=raw)
    for doubt in verdict.doubts:
        put(f"  doubt     {doubt}", hang=INDENT, raw=raw)
    if verdict.recommendation is not None and verdict.recommendation.text:
        put(f"  advice    {verdict.recommendation.text} ({verdict.recommendation.group})", hang=INDENT, raw=raw)
    if verdict.fix is not None:
        _put_fix(verdict.fix, raw=raw)
    _put_others(review, raw=raw)


def _put_fix(fix: Fix, *, raw: bool) -> None:
    """The change that the reviewer proposes."""
    put(f"  fix       {fix.path or 'no path given'}", hang=INDENT, raw=raw)
    for word, text in (("before", fix.before), ("after", fix.after)):
        if text.strip():
            put(f"{'':<{INDENT}}{word}:", raw=raw)
            put_quote(text, indent=INDENT, most=FIX_LINES, raw=raw)


def decisive_in_words(verdict: Verdict) -> str:
    """`7, Planner: the plan drops a requirement (second candidate: step 4)`."""
    parts = [] if verdict.decisive_step is None else [str(verdict.decisive_step)]
    parts += [verdict.decisive_agent] if verdict.decisive_agent else []
    reason = f": {verdict.decisive_reason}" if verdict.decisive_reason and parts else ""
    second = f" (second candidate: step {verdict.second_candidate})" if verdict.second_candidate is not None else ""
    return f"{', '.join(parts)}{reason}{second}" if parts else ""


def _put_others(review: AttemptReview, *, raw: bool) -> None:
    stood = review.standing
    if stood.verdict.needs_second and not stood.final:
        put("  second    rests on text that the subject could have written: another reviewer has to agree", hang=INDENT)
    for reading in stood.readings:
        put(f"  reading   {_opinion(reading)} ({word_for(reading.reviewer)})", hang=INDENT, raw=raw)
    for other in stood.disagreeing:
        put(f"  against   {_opinion(other)} ({word_for(other.reviewer)})", hang=INDENT, raw=raw)
    for change in stood.changes:
        put(f"  changed   {change.old} → {change.new} by {word_for(change.by)}", hang=INDENT, raw=raw)


def _opinion(verdict: Verdict) -> str:
    step = f", step {verdict.decisive_step}" if verdict.decisive_step is not None else ""
    return f"{verdict.label}{step}: {verdict.cause}"
