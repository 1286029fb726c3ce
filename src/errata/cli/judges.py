"""`errata consistency --judges`: how far the judges of the same attempts agree."""

from errata.cli.options import Options
from errata.cli.output import number, plural, put, put_command, put_json
from errata.cli.review.agreement import ratio
from errata.cli.table import put_table
from errata.model import StoredRun
from errata.model.output.consistency import JudgedQuestionOutput, JudgesOutput
from errata.review.judge_agreement import OVERALL
from errata.verbs.review import judges_agreement

LISTED = 20


def put_judges(runs: list[StoredRun], options: Options) -> None:
    agreement = judges_agreement(runs, options.store)
    if options.json:
        put_json(agreement)
    else:
        _show(agreement)


def _show(agreement: JudgesOutput) -> None:
    if not agreement.attempts:
        put("No attempt has a judgement")
        return
    put(f"{plural(agreement.attempts, 'attempt')} judged · {agreement.shared:,} by two or more")
    put()
    _put_judges(agreement)
    if not agreement.questions:
        put("\nNo attempt was rated by two judges, so agreement is unknown")
        return
    _put_pairs(agreement)
    _put_questions(agreement)
    for question in agreement.questions:
        if question.name == OVERALL:
            _put_disputes(question)


def _put_judges(agreement: JudgesOutput) -> None:
    header = ("judge", "judged", "invalid", "pass", "fail", "mean score")
    rows = [
        (judge.name, judge.judged, judge.invalid or "–", judge.passes, judge.fails, number(judge.score, 3))
        for judge in agreement.judges
    ]
    put_table(header, rows, right=header[1:], give_way=("judge",))
    if agreement.left_out:
        put(f"and {plural(agreement.left_out, 'judge')} with fewer ratings")


def _put_pairs(agreement: JudgesOutput) -> None:
    overall = next((one for one in agreement.questions if one.name == OVERALL), None)
    if overall is None:
        return
    gaps = {(one.first, one.other): one for one in agreement.gaps}
    put("\nAgreement of two judges on pass or fail")
    header = ("judge", "and", "both", "same", "kappa", "scores apart")
    rows = []
    for pair in overall.agreement.pairs:
        gap = gaps.get((pair.first, pair.other))
        apart = f"{gap.apart:.3f}" if gap else "–"
        rows.append((pair.first, pair.other, pair.both, pair.same, ratio(pair.kappa), apart))
    put_table(header, rows, right=header[2:], give_way=("judge", "and"))


def _put_questions(agreement: JudgesOutput) -> None:
    put("\nAgreement of all judges, overall and on each check that two of them rated")
    header = ("rated", "attempts", "disputed", "alpha", "Fleiss")
    rows = []
    for question in agreement.questions[: LISTED + 1]:
        measured = question.agreement
        rows.append(
            (question.name, measured.attempts, len(question.disputes), ratio(measured.alpha), ratio(measured.fleiss))
        )
    put_table(header, rows, right=header[1:], give_way=("rated",))
    if len(agreement.questions) > LISTED + 1:
        put(f"and {len(agreement.questions) - LISTED - 1:,} more with better agreement: `--json`")
    if any(one.agreement.alpha is None or one.agreement.fleiss is None for one in agreement.questions):
        put("– undefined: all ratings are the same, or there are too few")


def _put_disputes(question: JudgedQuestionOutput) -> None:
    if not question.disputes:
        return
    put(f"\nDisputed overall ({len(question.disputes):,})")
    for dispute in question.disputes[:LISTED]:
        ratings = " · ".join(
            f"{judge} {status}{_score(dispute.scores.get(judge))}" for judge, status in dispute.verdicts.items()
        )
        put(f"  {dispute.case}   {ratings}", hang=4)
        put_command("", ["errata", "show", dispute.attempt_id], indent=4)
    if len(question.disputes) > LISTED:
        put(f"  and {len(question.disputes) - LISTED:,} more with `--json`")


def _score(score: float | None) -> str:
    return "" if score is None else f" {score:.2f}"
