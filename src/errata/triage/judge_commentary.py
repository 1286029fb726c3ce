"""A judge's commentary on one turn, which mentions every dimension, including those that passed.

It decides only where calls and scores do not: which calls were expected if no contract lists them, and whether a call
that was not made is forgotten state or a needless question.
"""

import re

from errata.text.clauses import find_statement, sentences
from errata.text.lazy_regex import lazy_regex


def _any(*patterns: str) -> re.Pattern[str]:
    return lazy_regex("|".join(patterns), re.IGNORECASE)


DIMENSIONS = ("tool_use_correct", "instruction_following", "kb_grounding", "ambiguity_handling", "state_tracking")
_EXPECTS = _any(r"\b(?:expect\w*|requir\w*|should have|supposed|call(?:ed|s) for|due|needed|necessary)\b")
_EXPECTS_NOTHING = _any(r"\b(?:no|not|never|none|nothing)\b|n['’]t\b")
_FUNCTION = lazy_regex(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
_NUMBERS = {"two": 2, "both": 2, "twice": 2, "three": 3, "four": 4, "five": 5, "six": 6, "2": 2, "3": 3, "4": 4}
_SEVERAL_CALLS = _any(
    rf"\b({'|'.join(_NUMBERS)})\s+(?:`?[a-z]+(?:_[a-z]+)+`?\s+|(?:function|tool|separate|different)\s+)*"
    r"(?:calls?|lookups?|steps?|actions?|functions?|tools?|times)\b",
    r"\b[a-z]+_[a-z_]+\b[^.]{0,20}\b(twice)\b",
)


def expected_functions(judge: str) -> tuple[str, ...]:
    named: dict[str, None] = {}
    for sentence in sentences(judge, at_colons=False):
        expects = _EXPECTS.search(sentence)
        if expects is not None and not _EXPECTS_NOTHING.search(sentence[: expects.end() + 10]):
            named |= dict.fromkeys(name for name in _FUNCTION.findall(sentence) if name not in DIMENSIONS)
    return tuple(named)


def more_calls_expected(judge: str, made: int) -> str:
    """The sentence that counts more expected calls than were made; empty if there is none."""
    for sentence in sentences(judge, at_colons=False):
        number = _SEVERAL_CALLS.search(sentence) if _EXPECTS.search(sentence) else None
        if number is not None and _NUMBERS[(number[1] or number[2]).lower()] > made:
            return sentence
    return ""


_REST = r"(?:second|third|fourth|last|others?|remaining|rest|latter)"
_SOME = r"(?:one|two|three|half|some|part|\d+)"
_NEAR = r"[\w\s'’`,-]{0,40}"
_DONE = r"(?:made|called|done|executed|performed|carried|sent|handled|placed|issued|invoked|mentioned|addressed)"
_UNDONE = rf"(?:missing|never|omitted|skipped|dropped|ignored|left|untouched|undone|not {_DONE})"
_IN_PART = _any(
    r"\b(?:only|just) (?:\w+ )?(?:the )?(?:first|one|two|three|half|part|some|\d+)\b",
    rf"\b{_SOME} (?:out )?of (?:the )?(?:two|three|four|five|six|\d+|them|these|those|both)\b",
    rf"\b{_SOME} of the (?:required|expected|requested|calls|steps|actions)\b",
    rf"\b{_REST}\b{_NEAR}\b{_UNDONE}\b",
    rf"\b{_UNDONE}\b{_NEAR}\b{_REST} (?:call|step|action|one|part|item|half|two|three)\b",
    r"\bleft (?:out|undone|off|untouched)\b|\bpartial(?:ly)?\b|\bincomplete\w*|\bhalf[- ]done\b|\bhalf of the\b",
    r"\bstop(?:s|ped|ping) (?:after|short|there|halfway)\b|\bfallback\b",
    r"(?:\bnever|\bnot|n['’]t) (?:\w+ )?(?:go|went|gone|proceed\w*|continu\w*|follow\w*|moved?) (?:on|up|to|with)\b",
)


def done_in_part(judge: str) -> str:
    """The sentence about a request that was carried out in part."""
    return _first(_IN_PART, judge)


_END = r"(?:end(?:ed|s|ing)|clos(?:ed|es|ing)|terminat(?:ed|es|ing)|cut off|h[au]ng(?:s|ing)? up|left|leaves|leaving)"
_TALK = r"(?:session|conversation|call|chat|line)"
_ENDED = _any(rf"\b{_END}\s+(?:on\s+)?(?:the|this|its|our)?\s*{_TALK}\b", rf"\b{_TALK} (?:was|is) {_END}\b")
_BY_THE_USER = _any(r"\b(?:user|caller|customer|client|guest|member|patient)\b[\w\s]{0,12}$")


def ended_the_talk(judge: str) -> str:
    """The clause that states that the model ended the conversation."""
    ended = find_statement(_ENDED, judge)
    if ended is None or _BY_THE_USER.search(ended.clause[: ended.clause.index(ended.words)]):
        return ""
    return ended.clause


_REMEMBER = r"(?:recall|remember|retain|carry|keep|recogni[sz]e|track)"
# the model had something and lost it; "forgot to call" is only a missed call
_FORGOT = _any(
    r"\bforg[eo]t(?:s|ten|ting)?\b(?! to\b)(?! (?:the|its|this|that|a) (?:\w+ )?(?:call|tool|function))",
    rf"\b(?:did|does|do|could|can)(?: not|n['’]t) {_REMEMBER}\b|\b(?:fail\w*|unable) to {_REMEMBER}\b",
    r"\bshould (?:have )?(?:remember|recall|retain|know|drawn? on|relied on)\w*",
    r"\bshould (?:have )?used? (?:the |what )?(?:conversation\w*|earlier|known|stored|existing|context)\b",
    r"\blo(?:st|ses|sing) (?:track|sight|the (?:thread|context))\b",
    r"\bno longer (?:kn[eo]w\w*|ha[ds]|aware|remember\w*)\b|\b(?:ha[sd]|have) no (?:record|memory|recollection)\b",
    r"\b(?:does|did|do)(?: not|n['’]t) have (?:a |any |the |that )?(?:record|memory|trace)\b",
    r"\bmemory (?:lapse|failure|error|loss)\b|\bstate-caused\b|\bconversation(?:al)? (?:state|memory)\b",
)
_EARLIER = _any(
    r"\bturns? \d+|\bearlier\b|\bpreviously\b|\bprevious turns?\b|\bprior\b|\bbefore\b|\bturns? (?:ago|back)\b",
    r"\b(?:at|from|in|since) the (?:very )?(?:start|beginning|outset|opening|first|greeting)\b|\bon (?:file|record)\b",
    r"\bintroduced (?:him|her|them|it)sel\w+|\bthroughout\b|\ball along\b|\b(?:had|has|been) (?:been )?established\b",
)
_NOT_BEFORE = _any(r"\b(?:later?|following|next turn|subsequent\w*|cascade|before (?:acting|calling|it|the call))\b")
_AGAIN = _any(r"\bagain\b|\bonce more\b|\banew\b|\ba second time\b|\bre-?(?:ask|request)\w*|\balready\b")
_OVER_CLARIFIED = _any(r"\bover-?\s?clarif\w*")
_REQUEST = r"(?:sentence|request|message|utterance|turn|breath|question)"
_SAME_TURN = _any(
    rf"\b(?:in|within|with|by) (?:this|the|that|one|a) (?:very |same |single |current |present )+{_REQUEST}\b",
    rf"\bin (?:this|one) {_REQUEST}\b|\bjust (?:been )?(?:said|given|named|stated)\b",
)
_NEEDLESS = _any(
    r"\bneedless(?:ly)?\b|\bunnecessar(?:y|ily)\b|\bsuperfluous\b|\bredundant\w*|\bpointless\b|\bunneeded\b",
    r"\bunwarranted\b|\bgratuitous\w*|\bno (?:need|reason) (?:to|for)\b|\bunambiguous\w*|\bclarif\w*",
    r"\b(?:not|never) (?:needed|necessary|required|warranted|\w* ?ambiguous|unclear)\b",
    r"\b(?:nothing|no detail|no ambiguity)\b[\w\s]{0,30}\b(?:unclear|missing|open|clear up|left)\b",
    r"\b(?:every|all|enough|full|complete\w*|sufficient)\b[\w\s]{0,30}\b(?:details?|info\w*|arguments?|needed)\b",
    r"\b(?:fully|clearly|completely|explicitly) (?:specified|stated|given|named|clear)\b",
)
_ASKED = _any(
    r"\bclarif\w*|\bquestion\w*|\bconfirm\w*|\basking\b|\bre-?ask\w*|\b[ei]nquir\w*|\bseek\w*|\bsought\b|\bprompt\w*",
    r"\b(?:assistant|model|agent|bot|it|and|then|instead)\b[\w\s]{0,20}\b(?:ask(?:s|ed)|request(?:s|ed)|quer(?:y|ied)"
    r"|want(?:s|ed) to know)\b",
)
_LATE = _any(r"\blate\b|\b(?:next|following|later) turn\b")


def forgotten(judge: str) -> str:
    """The clause that states that something known was forgotten."""
    forgot = find_statement(_FORGOT, judge)
    return forgot.clause if forgot is not None else ""


def was_clear_in_itself(judge: str) -> str:
    """A needless question, by the judge's own word for it, or because the answer is in the same turn."""
    over = find_statement(_OVER_CLARIFIED, judge)
    return over.clause if over is not None else _first(_SAME_TURN, judge)


def known_before(judge: str) -> str:
    """The sentence about an earlier turn; a mere "already" counts only where nothing else explains the question."""
    earlier = next((one for one in sentences(judge) if _EARLIER.search(one) and not _NOT_BEFORE.search(one)), "")
    return earlier or ("" if _NEEDLESS.search(judge) else _first(_AGAIN, judge))


def asked_needlessly(judge: str) -> str:
    """A question that the judge calls needless; one that only delayed the call is a late call."""
    needless = was_clear_in_itself(judge) or (_first(_NEEDLESS, judge) if _ASKED.search(judge) else "")
    return "" if _LATE.search(judge) and "clarif" not in judge.lower() else needless


def _first(pattern: re.Pattern[str], judge: str) -> str:
    return next((one for one in sentences(judge) if pattern.search(one)), "")


_ABOUT = {
    "tool_use_correct": _any(r"\btool|\bcall|\bfunction"),
    "kb_grounding": _any(r"knowledge|\bkb\b|ground|\bfact|contradict|documents?"),
    "ambiguity_handling": _any(r"ambigu|clarif|guess|unclear|which|disambig"),
    "state_tracking": _any(r"state|track|remember|recall|forg[eo]t|earlier|turn \d"),
}


def sentence_about(dimension: str, judge: str) -> str:
    """The sentence that explains a failed dimension: the one with its conclusion or before a bare conclusion."""
    spelled = dimension.replace("_", "[ _-]?")
    concludes = _any(rf"{spelled}\b[^.]*\b(?:false|fail\w*|incorrect|wrong)")
    bare = _any(rf"\W*{spelled}\s*(?:=|is|:)?\s*\w+\W*")
    every = list(sentences(judge))
    at = next((at for at, one in enumerate(every) if concludes.search(one)), None)
    if at is not None:
        return every[at - 1] if at and bare.fullmatch(every[at]) else every[at]
    return _first(_ABOUT[dimension], judge)
