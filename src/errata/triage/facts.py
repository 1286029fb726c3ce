"""Signals that need no text: what the facts of one attempt show by themselves."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from errata.model import Attempt, Case, ErrorInfo
from errata.model.words import Confidence, Owner
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import steady
from errata.text.tool_output import key_line
from errata.triage import (
    broken_tests,
    contradictions,
    delivery,
    demands,
    dialogues,
    judges,
    limits,
    plain_mistakes,
    simulators,
    strictness,
    turn_mistakes,
    verifiers,
    working,
)
from errata.triage.observed import QUOTE, Observed, Rule, signal
from errata.triage.places import phase_of
from errata.triage.reference_files import equal_files, is_about_another_file

__all__ = ["MEANS", "QUOTE", "Observed", "Rule", "observe"]


ENDED = "MODEL_ENDED_SESSION"


def follows_another(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    if attempt.follows:
        yield _observed(attempt, "follower", "collateral", "certain", "follows", "", stated=attempt.follows)


def ended_the_session(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    if attempt.native_status == ENDED:
        text = (attempt.output.text or "")[:QUOTE]
        yield _observed(attempt, "ended_session", "model", "certain", "output", text)


def never_generated(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """An error before the first token: no step, no answer, nothing measured. Whose it is, only its text can tell.

    Only for logs that would hold an answer, tokens or steps if there had been any.
    """
    if attempt.execution != "error" or not _is_subject_error(attempt):
        return
    if attempt.errors[0].frame.startswith(HARNESS_FRAMES):
        return  # the code that raised is more informative than the empty output
    if any(check.kind == "tests" and check.status == "error" for check in attempt.checks):
        return  # a test that asks the model itself: its runner keeps neither answers nor tokens
    if attempt.measurement == "scored" or attempt.reported:
        return  # it was measured, whatever the log keeps of it
    made = attempt.usage.subject.tokens or attempt.output.text or attempt.steps or _has_work(attempt)
    made = made or (attempt.conduct is not None and attempt.conduct.turns > 0)
    measured = any(check.status in ("pass", "fail") for check in attempt.checks)
    if not made and not measured:
        first = attempt.errors[0]
        message = steady(first.message[:QUOTE])
        if _is_a_programs_mistake(first.type, message):
            yield _observed(attempt, "crash_before_generation", "harness", "likely", "errors[0].message", first)
            return
        owner: Owner | None = "provider" if working.speaks_of_a_provider(first.type, message, first.code) else None
        yield _observed(attempt, "no_generation", owner, "likely", "errors[0].message", first)


# no provider raises these: they are mistakes in a program, here the one that should have asked the model
_PROGRAMMING = lazy_regex(
    r"\b(?:AttributeError|KeyError|TypeError|NameError|IndexError|ImportError|ModuleNotFoundError|UnboundLocalError|"
    r"NotImplementedError|RecursionError|AssertionError|ValidationError|JSONDecodeError|FileNotFoundError|SyntaxError|"
    r"ReferenceError|UnicodeDecodeError|ZeroDivisionError|NullPointerException|NullReferenceException|"
    r"IndexOutOfBoundsException|ClassCastException|IllegalStateException|RangeError)\b"
    r"|\bpanic: |panicked at |runtime error: |Cannot find (?:module|package) "
)


@lru_cache(maxsize=20_000)
def _is_a_programs_mistake(kind: str, message: str) -> bool:
    return _PROGRAMMING.search(f"{kind}: {message}"[:QUOTE]) is not None


# frames of harnesses as they are installed; a provider's or the subject's own code is in none of them
_HARNESS_PATHS = lazy_regex(
    r"(?:^|[/\\])(?:inspect_ai|inspect_evals|lm_eval|lighteval|opencompass|helm|harbor|terminal_bench|swebench|sweagent"
    r"|minisweagent|openhands|evalplus|bigcode_eval|bfcl_eval|deepeval|ragas|promptfoo|tau_bench|tau2|scylla|verifiers"
    r"|lcb_runner|appworld|browsergym|simple_evals|olmes|agentbench|evalscope|convex-evals[/\\]runner)[/\\]"
)
_JS_FRAME = lazy_regex(r"^[^\S\n]+at (?:.{0,200} \()?(\S+:\d+:\d+)\)?$", re.MULTILINE)


def ends_in_the_harness(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """A mistake in a program whose stack, where the source names no frame, ends in a harness's own code."""
    for at, error in enumerate(attempt.errors):
        if error.frame or error.recovered or phase_of(error) in ("scoring", "simulator"):
            continue
        place, frame = _innermost_frame(error)
        if _HARNESS_PATHS.search(frame) and _is_a_programs_mistake(error.type, steady(error.message[:QUOTE])):
            yield _observed(attempt, "harness_frame", "harness", "likely", f"errors[{at}].{place}", frame)
            return


def _innermost_frame(error: ErrorInfo) -> tuple[str, str]:
    """Python prints it last, JavaScript first, and often below the message itself."""
    if 'File "' in error.traceback:
        return "traceback", error.traceback.rpartition('File "')[2].partition("\n")[0]
    for place, text in (("traceback", error.traceback), ("message", error.message)):
        if match := _JS_FRAME.search(text) if "\n" in text else None:
            return place, match[1]
    return "", ""


def spent_nothing(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    if attempt.usage.subject.tokens == 0 and not attempt.output.text and attempt.execution == "error":
        yield _observed(attempt, "zero_tokens", None, "likely", "usage", "", stated="total = 0")


_WORLD = ("environment", "setup")


def measurement_broke(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    if attempt.measurement == "error":
        broken = next((check for check in attempt.checks if check.status == "error"), None)
        quote = broken.error or broken.explanation if broken else ""
        stated = "" if broken else attempt.native_status
        world = next((error for error in attempt.errors if error.phase in _WORLD and not error.recovered), None)
        if world is None:
            yield _observed(
                attempt, "measurement_failed", "grader", "likely", "measurement", quote, stated=stated, breaks=True
            )
        else:  # the source states where it broke
            observation = _observed(
                attempt, "measurement_failed", "environment", "likely", "errors.message", world, breaks=True
            )
            yield msgspec.structs.replace(observation, also=("grader",))
    elif attempt.measurement == "unscored":
        yield _observed(attempt, "no_verdict", "grader", "likely", "measurement", "", stated="unscored", breaks=True)


def equals_the_reference(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The answer is the reference, character for character, and is refused all the same."""
    if case is None or not case.artefacts or not attempt.artefacts:
        return
    equal = equal_files(case.artefacts, attempt.artefacts)
    if equal is not None and not is_about_another_file(attempt, case):
        name, first = equal
        measured = attempt.outcome == "fail" and attempt.measurement == "scored"
        owner: Owner | None = ("grader" if _was_judged(attempt) else "unknown") if measured else None
        observation = _observed(attempt, "answer_equals_reference", owner, "likely", f"output {name}", first)
        yield msgspec.structs.replace(observation, is_specific=owner == "unknown")


# steps that prepare an answer for the checks: where they fail, nobody has judged it
_PREPARING = lazy_regex(r"\b(?:install|deploy|setup|set-up|build|codegen|download|clone|filesystem)\b", re.IGNORECASE)


def _was_judged(attempt: Attempt) -> bool:
    failed = [check for check in attempt.checks if check.failed]
    return not failed or any(check.kind != "step" or not _PREPARING.search(check.name) for check in failed)


def has_unknown_status(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The harness wrote how the attempt ended, in a word that nobody knows: without checks it may mean anything."""
    if not attempt.is_status_known:
        owner: Owner | None = None if _was_checked(attempt) else "unknown"
        yield _observed(attempt, "unknown_status", owner, "likely", "native_status", attempt.native_status)


def _was_checked(attempt: Attempt) -> bool:
    return any(check.status in ("pass", "fail") and check.counts for check in attempt.checks)


def a_check_failed(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The burden of proof: what was measured and failed is the subject's, unless a signal shows otherwise."""
    if not attempt.is_status_known and not _was_checked(attempt):
        return
    if attempt.outcome in ("fail", "partial") and attempt.measurement == "scored":
        failed = next((check for check in attempt.checks if check.failed), None)
        reason = key_line(failed.explanation) if failed else ""
        judged = next((one for one in attempt.objections if one.reasoning), None) if not reason else None
        if judged is not None:
            where, quote = f"judgements[{judged.judge}].reasoning", _TURN.split(judged.reasoning, maxsplit=1)[-1]
            evidence = signal("check_failed", "likely", where, quote, judged.ref or attempt.ref)
            yield Observed(signal=evidence, owner="model")
            return
        where = f"checks[{failed.name}]" if failed else "outcome"
        # how the attempt ended is not a reason for a check to fail
        status = f"{failed.name}: failed" if failed and attempt.execution == "completed" else attempt.native_status
        is_quote = bool(reason and failed and not failed.derived)
        quote, stated = (reason, "") if is_quote else ("", reason or status)
        yield _observed(attempt, "check_failed", "model", "likely", where, quote, stated=stated)


# judges praise first; what they refuse it for comes behind
_TURN = lazy_regex(r"(?<=[.;!]\s)(?=(?:However|But|Unfortunately|Nevertheless|That said)\b)")


def crashed_in_the_harness(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """The source names a frame with its package only where nobody but the harness's own code was at work."""
    for at, error in enumerate(attempt.errors):
        # a limit is raised by the harness's code too, on purpose
        if error.frame.startswith(HARNESS_FRAMES) and not error.recovered and not error.type.endswith("TimeoutError"):
            evidence = signal("harness_frame", "likely", f"errors[{at}].frame", "", error.ref, stated=error.frame)
            yield Observed(signal=evidence, owner="harness")
            return


HARNESS_FRAMES = ("inspect_ai/", "harbor/", "terminal_bench/", "scylla/")


MEANS = {
    "harness_frame": "an error in the harness's own code",
    "limit_exceeded": "only a cost or time limit was exceeded",
    "follower": "knock-on failure of an earlier one",
    "ended_session": "the model ended the session",
    "limit_reached": "a limit ended the attempt",
    "limit_during_changes": "the turn limit ended the attempt during or after the expected changes",
    "turns_used_up": "the turn limit was reached before the expected changes were made",
    "unknown_status": "the harness ended the attempt with a status word that is not known",
    "user_stopped_early": "the simulated user agreed and ended the conversation before the agent could act",
    "user_denies_instruction": "the simulated user contradicted its own instruction",
    "loop": "one call, message or piece of text was repeated over and over",
    "lint_only": "lint failed, every test passed",
    "no_generation": "no generation, no tokens",
    "crash_before_generation": "the harness crashed before calling the model",
    "zero_tokens": "no tokens were used",
    "measurement_failed": "scoring failed",
    "no_verdict": "not scored",
    "verifier_never_ran": "the tests never ran",
    "judges_contradict": "the judges contradict each other about the same work",
    "broken_test": "test code that can't run for a fault of its own",
    "other_path": "the tests look for another file than the task names",
    "unnamed_demand": "the tests demand a name that the task does not mention",
    "does_not_compile": "the subject's program does not compile",
    "ignored_form": "the answer ignores the form that the task prescribes",
    "judges_disagree": "the judges disagree",
    "judge_contradicts": "a judge contradicts what a program or the calls show",
    "strict_match": "the expected answer was rejected for its format",
    "service_down": "a service that the task provides did not answer the tests",
    "format_reject": "the right answer is in the output but was not recognised",
    "prompt_contradicts_expected": "the task and its own reference contradict each other",
    "expected_contradicts_data": "a required call contradicts what the case's own tools return",
    "reference_fails": "the reference solution itself fails",
    "all_fail": "no measured model passes this case, or hardly any",
    "known_gap": "a known gap of this case is on record",
    "answer_equals_reference": "the answer is identical to the reference",
    "wrote_too_much": "the model changed something that should not have changed",
    "wrote_otherwise": "the model made a different change from the expected one",
    "never_wrote": "the model never made an expected change",
    "passed_elsewhere": "the case was passed in another attempt or run",
    "check_failed": "measured and failed; no evidence points to another owner",
    "prompt_not_delivered": "the prompt did not reach the model",
    "error_body": "the answer is the error of a failed request",
    "unavailable_run": "the model was never available",
    "cascade": "failed on leftovers of an earlier crash",
    "disk_still_full": "the disk was already full",
    "ended_by_another": "another failure ended this attempt or left something in its way",
    **working.MEANS,
    **turn_mistakes.MEANS,
    "phase": "an unknown error, attributed by its phase",
    "nothing known": "an error that no rule matches",
}
"""What the rules that are functions say, in words."""

OF_STATED_FACTS: tuple[Rule, ...] = (follows_another, ended_the_session, measurement_broke)
OF_LIMITS: tuple[Rule, ...] = (limits.ran_into_a_limit,)
OF_UNKNOWN_STATUS: tuple[Rule, ...] = (has_unknown_status,)
OF_TEXTS: tuple[Rule, ...] = (limits.loops,)
OF_CONVERSATIONS: tuple[Rule, ...] = (*simulators.RULES, contradictions.expected_contradicts_data)
"""They need the transcript, which triage loads only where something depends on it."""
OF_WORK: tuple[Rule, ...] = (never_generated, spent_nothing)
"""Only for logs that can hold an answer, tokens or steps: what a log can't hold is not missing."""
OF_ERRORS: tuple[Rule, ...] = (
    ends_in_the_harness,
    crashed_in_the_harness,
)
TESTED = frozenset(("tests", "step"))
OF_MEASURED: tuple[Rule, ...] = (
    delivery.prompt_not_delivered,
    delivery.answered_with_an_error,
    judges.only_lint_failed,
    limits.only_a_limit_failed,
    broken_tests.broken_assertion,
    *judges.RULES,
    strictness.only_one_filter_found_it,
    turn_mistakes.turn_mistake,
    a_check_failed,
)
OF_TESTS: tuple[Rule, ...] = (
    verifiers.verifier_never_ran,
    broken_tests.broken_test,
    demands.other_path,
    demands.unnamed_precision,
    strictness.refused_for_spelling,
    verifiers.service_down,
    plain_mistakes.does_not_compile,
)
"""Of measured attempts with logs or with tests."""
OF_DESCRIBED_CASES: tuple[Rule, ...] = (
    equals_the_reference,
    dialogues.wrote_something_else,
    strictness.refused_for_its_form,
    strictness.calls_refused_for_their_form,
    strictness.not_taken_for_an_answer,
    plain_mistakes.ignored_form,
    contradictions.name_contradicts_the_input,
)


def observe(attempt: Attempt, case: Case | None, *, records_work: bool = True) -> list[Observed]:
    """What every rule that may apply has to say; asking those that can't would be half of what triage costs."""
    rules: list[Rule] = []
    if attempt.follows or attempt.native_status == ENDED or attempt.measurement in ("error", "unscored"):
        rules += OF_STATED_FACTS
    if attempt.conduct is not None:
        rules += working.RULES
    if attempt.execution == "limit":
        rules += OF_LIMITS
    if not attempt.is_status_known:
        rules += OF_UNKNOWN_STATUS
    if attempt.errors or attempt.execution == "error":
        rules += OF_WORK + OF_ERRORS if records_work else OF_ERRORS
    if attempt.measurement == "scored":
        rules += OF_MEASURED
        if attempt.steps:
            rules += OF_CONVERSATIONS
        if attempt.artefacts or any(check.kind in TESTED for check in attempt.checks):
            rules += OF_TESTS
    if case is not None:
        rules += OF_DESCRIBED_CASES
    if attempt.output.text or attempt.steps:
        rules += OF_TEXTS
    return [one for rule in rules for one in rule(attempt, case)]


def _observed(
    attempt: Attempt,
    name: str,
    owner: Owner | None,
    strength: Confidence,
    where: str,
    quote: str | ErrorInfo,
    *,
    stated: str = "",
    breaks: bool = False,
) -> Observed:
    ref = attempt.ref
    if isinstance(quote, ErrorInfo):
        ref, stated, quote = quote.ref or ref, quote.stated, quote.quotable
    evidence = signal(name, strength, where, quote, ref, stated=stated)
    return Observed(signal=evidence, owner=owner, breaks=breaks, is_specific=name == "verifier_never_ran")


def _has_work(attempt: Attempt) -> bool:
    """A log is the harness's word, not the subject's work."""
    return any(artefact.role != "log" for artefact in attempt.artefacts)


def _is_subject_error(attempt: Attempt) -> bool:
    return bool(attempt.errors) and phase_of(attempt.errors[0]) == "subject"
