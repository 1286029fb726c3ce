"""What agents do instead of finding out: data they assume, actions they only claim, confirmations without a check."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from errata.model import Observation, Step
from errata.model.words import ObservationKind, Strength
from errata.text.lazy_regex import lazy_regex
from errata.transcript.tool_use import ToolUse, as_json, code_in, is_agent, speaker_of
from errata.transcript.wording import listed_steps, sentence_around

LONGEST = 6_000
"""Of a longer message the beginning and the end are searched, half of this each."""
MOST = 400_000
"""Of a longer transcript likewise."""
SHORT = 400
"""Characters of arguments that are not a file."""
_ASSUMING = ("assum", "simulat", "suppos", "pretend", "mock", "invent", "hypothetical", "ficti", "made-up",
             "placeholder", "dummy", "illustrat", "sample", "example", "demo", "knowledge", "information")  # fmt: skip
"""A text without any of these assumes nothing: it need not be searched."""

_ASSUMES = lazy_regex(
    r"\b(?:let(?:'|’)?s|let us|we|i)(?:(?:'|’)(?:ll|re|m)| will| can| could| may| must| have to| are| am| have)?"
    r"(?: \w+){0,2} (?:assum(?:e|ing|ed)|simulat(?:e|ing)|suppose|pretend(?:ing)?|mock(?:ing)?|invent(?:ing)?)\b"
    r"|\bassum(?:ing|e|ed) (?:that |we (?:have|found|got)|the following|these|some|values?|prices?|(?:the )?data|an? )"
    r"|\b(?:hypothetical|fictional|fictitious|made-up|placeholder|dummy|mock(?:ed)?|simulated|illustrative|assumed)"
    r" (?:data\w*|values?|prices?|results?|numbers?|figures?|lists?|texts?|content|answers?|output|response|information"
    r"|scenario|case|examples?|entries|names?|dates?|ids?|paths?|urls?|api)\b"
    r"|\b(?:sample|example) (?:data|values?|prices?|results?|output|figures?|dataset)\b"
    r"|\bfor (?:demonstration|illustration|illustrative|demo)\b|\b(?:the|an|our|this|these) assumed \w+"
    r"|\b(?:based on|from|using|with|and)(?: the| this| our| my| current)*"
    r" (?:general|common|background|prior) (?:knowledge|information|assumptions?)\b",
    re.IGNORECASE,
)
_REJECTS = lazy_regex(
    r"\b(?:not|never|no|without|avoid|instead of|rather than|don(?:'|’)?t|can(?:'|’)?t|shouldn(?:'|’)?t|replaced?"
    r"|due to)\b[^.\n]{0,60}\Z",
    re.IGNORECASE,
)
_NEGATES = lazy_regex(r"\b(?:not|never)\b", re.IGNORECASE)
_PLACEHOLDER = lazy_regex(
    r"\bYOUR[_ -][A-Z][A-Z_ ]{2,30}\b|\b[Yy]our_[a-z_]{2,20}(?:key|token|id|path|url)\b"
    r"|[\"'][^\"'\n]{0,40}\bpath[/_]to[/_]\w+|[\"'][^\"'\n]{0,20}X{3,}[^\"'\n]{0,20}[\"']"
    r"|<(?:your|insert|the)[ _-][^>\n]{2,40}>"
    r"|#[^\n]{0,20}\b(?:replace (?:this |it )?with|placeholder|dummy|hypothetical|example data|sample data|mock)\b",
)
_CLAIMS_ACTION = lazy_regex(
    r"\b(?:after|upon|following)"
    r"(?: \w+ly| an?| the| our| my| further| thorough| careful| detailed| manual| some| initial| doing| provided){0,4}"
    r" (?:search(?:ing|es)?|visit(?:ing)?|review(?:ing)?|examin(?:ing|ation)|check(?:ing|s)?|inspect(?:ing|ion)|opening"
    r"|access(?:ing)?|browsing|consult(?:ing|ation)|research(?:ing)?|verif(?:ying|ication)|investigat(?:ing|ion)"
    r"|looking|links?)\b"
    r"|\b(?:i|we)(?:(?:'|’)ve| have)?(?: \w+ly)? (?:reviewed|examined|checked|searched|visited|opened|accessed"
    r"|looked up|browsed|downloaded|inspected|consulted|watched|read through|cross-checked|cross-referenced)\b",
    re.IGNORECASE,
)
_ANNOUNCES = lazy_regex(
    r"\b(?:i(?:(?:'|’)ll| will)|let me)(?: now| then| first| also| proceed to| manually| personally| directly){0,2}"
    r" (?:open|visit|check|search|look|download|inspect|review|examine|access|browse|verify|consult|perform|conduct"
    r"|run|execute|retrieve|fetch|watch|read)\b",
    re.IGNORECASE,
)
_CONFIRMS = lazy_regex(
    r"\b(?:(?:has|have) been|is|are|was|were|indeed|we(?:(?:'|’)ve| have)?|i(?:(?:'|’)ve| have)?|been)"
    r"(?: \w+ly| now| also| all){0,2} (?:verif(?:ied)|confirmed|validated|double-checked|cross-checked)\b"
    r"|\b(?:verification|confirmation|validation) (?:is|was|has been)? ?(?:complete|completed|successful|done)\b"
    r"|\b(?:verifies|confirms|corroborates?|validates|indicates) (?:that|the|our|this|it)\b"
    r"|\b(?:is|are|information|result|answer|conclusion)(?: \w+)? (?:accurate|correct)(?:ly)?\b"
    r"|\bi (?:agree|concur)\b",
    re.IGNORECASE,
)
_ENDS = lazy_regex(r"\bTERMINATE\b|#{3}(?:STOP|DONE|END)#{3}")
_NOTICES = lazy_regex(
    r"\b(?:not|no|nothing|empty|none|didn(?:'|’)?t|unable|fail(?:ed|s)?|error|unfortunately|missing|without|instead|however"
    r"|issue|couldn(?:'|’)?t)\b",
    re.IGNORECASE,
)


def conduct_flags(steps: Sequence[Step], uses: Sequence[ToolUse]) -> Iterator[Observation]:
    turns = _turns(steps, uses)
    is_team = len({speaker_of(turn.step) for turn in turns}) > 1
    yield from _assumptions(turns, uses)
    yield from _claimed_actions(turns, is_team=is_team)
    yield from _confirmations(turns, is_team=is_team)
    yield from _unnoticed(turns)
    yield from _endings(turns)


class _Turn(NamedTuple):
    at: int
    step: Step
    text: str
    code: str
    acts: bool
    """Whether it makes a call or holds code."""
    last_result: ToolUse | None
    """The latest result before it."""
    is_fresh: bool
    """Whether that came since the agents last spoke."""
    has_looked_up: bool
    """Whether any earlier call worked: an agent that works alone may speak of what it looked up before."""

    @property
    def has_fresh_result(self) -> bool:
        return self.is_fresh and self.last_result is not None and self.last_result.worked


def _turns(steps: Sequence[Step], uses: Sequence[ToolUse]) -> list[_Turn]:
    """What agents wrote, with what they knew from tools by then. The first step only states the task."""
    ends = sorted((use.reply_step.index, number) for number, use in enumerate(uses) if use.reply is not None)
    turns: list[_Turn] = []
    known, last, fresh, looked_up = 0, None, False, False
    for at, step in enumerate(steps):
        while known < len(ends) and ends[known][0] < step.index:
            last, fresh = uses[ends[known][1]], True
            looked_up = looked_up or last.worked
            known += 1
        if is_agent(step):
            if at and (step.text or step.tool_calls):
                code = code_in(step.text)
                acts = bool(step.tool_calls or code)
                turns.append(_Turn(at, step, _ends_of(step.text), code, acts, last, fresh, looked_up))
            fresh = False
    return _within_bounds(turns)


def _ends_of(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"


def _within_bounds(turns: list[_Turn]) -> list[_Turn]:
    if sum(len(turn.text) for turn in turns) <= MOST:
        return turns
    kept: dict[int, _Turn] = {}
    for some in (turns, reversed(turns)):
        size = 0
        for turn in some:
            size += len(turn.text)
            if size > MOST // 2:
                break
            kept[turn.at] = turn
    return [kept[at] for at in sorted(kept)]


def _assumptions(turns: Sequence[_Turn], uses: Sequence[ToolUse]) -> Iterator[Observation]:
    ran = {use.step.index for use in uses if use.is_code}
    for turn in turns:
        step = turn.step
        # a tool that is given a whole file writes a program; mocks and samples belong there
        code = turn.code or "\n".join(filter(_is_short, (as_json(call.arguments) for call in step.tool_calls)))
        gap = _PLACEHOLDER.search(code[:LONGEST])
        if gap is not None:
            strength: Strength = "strong" if step.index in ran or step.tool_calls else "moderate"
            yield _flag("data_assumed", step, "Uses a placeholder in place of a real value.", code, gap, strength)
            continue
        lower = turn.text.lower()
        matches = _ASSUMES.finditer(turn.text) if any(word in lower for word in _ASSUMING) else iter(())
        match = next((one for one in matches if _is_assumption(turn.text, one)), None)
        if match is not None:
            yield _flag("data_assumed", step, "Assumes data instead of obtaining it.", turn.text, match, "strong")


def _is_short(arguments: str) -> bool:
    return len(arguments) <= SHORT


def _is_assumption(text: str, match: re.Match[str]) -> bool:
    """Neither rejected nor a question to the user."""
    start = max(text.rfind("\n", 0, match.start()), match.start() - 80) + 1
    asked = sentence_around(text, *match.span()).endswith("?")
    return not asked and not _NEGATES.search(match[0]) and not _REJECTS.search(text[start : match.start()])


def _claimed_actions(turns: Sequence[_Turn], *, is_team: bool) -> Iterator[Observation]:
    """Looking something up takes a call. Announcements count only where no call follows, however late."""
    last_act = max((number for number, turn in enumerate(turns) if turn.acts), default=-1)
    for number, turn in enumerate(turns):
        if turn.acts or turn.has_fresh_result:
            continue
        claims = iter(()) if turn.has_looked_up and not is_team else _CLAIMS_ACTION.finditer(turn.text)
        match = next((one for one in claims if _is_fact(turn.text, one.start())), None)
        if match is not None:
            text = "Reports a search or check, but made no call for it."
            yield _flag("action_not_made", turn.step, text, turn.text, match, "strong")
            continue
        match = _ANNOUNCES.search(turn.text)
        if match is not None and number > last_act:
            text = "Announces a search or check that is never made."
            yield _flag("action_not_made", turn.step, text, turn.text, match, "moderate")


def _confirmations(turns: Sequence[_Turn], *, is_team: bool) -> Iterator[Observation]:
    """The first confirmation of each stretch without a result that could carry it; the rest are counted."""
    groups: list[list[tuple[_Turn, re.Match[str]]]] = []
    for turn in turns:
        has_result = turn.has_fresh_result or (turn.has_looked_up and not is_team)
        if has_result or not groups:
            groups.append([])
        if turn.acts or has_result:
            continue
        match = next((one for one in _CONFIRMS.finditer(turn.text) if _is_fact(turn.text, one.start())), None)
        if match is not None:
            groups[-1].append((turn, match))
    for group in filter(None, groups):
        turn, match = group[0]
        steps = tuple(one.step.index for one, _ in group)
        often = f" (also {listed_steps(steps[1:])})" if len(steps) > 1 else ""
        yield Observation(
            kind="unchecked_confirmation",
            step=turn.step.index,
            speaker=speaker_of(turn.step),
            text=f"Confirms a result that no tool result since supports{often}.",
            quote=sentence_around(turn.text, *match.span()),
            strength="moderate",
            steps=steps if len(steps) > 1 else (),
        )


def _unnoticed(turns: Sequence[_Turn]) -> Iterator[Observation]:
    """Code printed nothing, and the next agent goes on as if it had."""
    for turn in turns:
        use = turn.last_result
        if use is None or not turn.is_fresh or turn.acts or not use.is_code or not use.returned_nothing:
            continue
        if not _NOTICES.search(turn.text):
            yield Observation(
                kind="call_returned_nothing",
                step=turn.step.index,
                speaker=speaker_of(turn.step),
                text=f"Goes on although the code of step {use.step.index} printed nothing.",
                quote=turn.text.strip().split("\n")[0][:160],
                related_step=use.step.index,
                strength="strong",
            )


def _endings(turns: Sequence[_Turn]) -> Iterator[Observation]:
    """The first word that ends the conversation, where the last call before it failed or returned nothing."""
    turn = next((one for one in turns if _ENDS.search(one.text)), None)
    if turn is None or turn.last_result is None or turn.last_result.worked:
        return
    match = _ENDS.search(turn.text)
    use = turn.last_result
    state = f"failed ({use.error.rstrip('.')})" if use.error else "returned nothing"
    if match is not None:
        yield Observation(
            kind="ended_early",
            step=turn.step.index,
            speaker=speaker_of(turn.step),
            text=f"Ends the conversation although the last call {state}.",
            quote=sentence_around(turn.text, *match.span()),
            related_step=use.step.index,
            strength="weak",
        )


def _is_fact(text: str, start: int) -> bool:
    """Whether the sentence states something: no plan, question, request, condition or negation."""
    before = text[max(text.rfind("\n", 0, start), text.rfind(". ", 0, start), start - 80) + 1 : start]
    end = _STOPS.search(text, start)
    return _PLANS.search(before) is None and (end is None or "?" not in end[0]) and not _asks(text, start)


def _asks(text: str, start: int) -> bool:
    """Whether the message asks for an answer in the same breath: `… is correct. Please reply "yes".`"""
    line = text.find("\n", start)
    return _REQUESTS.search(text, start, line if line >= 0 else len(text)) is not None


_STOPS = lazy_regex(r"(?<![.!?])[.!?]++(?=[\s*_)]|\Z)|\n")
"""The end of a sentence, not of a title in quotation marks."""
_REQUESTS = lazy_regex(
    r"\bplease (?:confirm|reply|respond|answer|let me know|verify|tell me)\b|\blet me know (?:if|whether)\b",
    re.IGNORECASE,
)


_PLANS = lazy_regex(
    r"\b(?:will|would|can|could|should|must|shall|may|might|to|please|let(?:'|’)?s|let (?:me|us)|needs?|plan|want|ll"
    r"|if|once|when|before|not|cannot|isn(?:'|’)t|hasn(?:'|’)t|ensure|whether|do|does|did|suggest|recommend|propose"
    r"|conducting)\b[^.]{0,60}\Z",
    re.IGNORECASE,
)


def _flag(
    kind: ObservationKind, step: Step, text: str, within: str, match: re.Match[str], strength: Strength
) -> Observation:
    quote = sentence_around(within, *match.span())
    return Observation(kind=kind, step=step.index, speaker=speaker_of(step), text=text, quote=quote, strength=strength)
