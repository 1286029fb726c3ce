"""`errata consistency`: the command, and how far judges agree."""

from pathlib import Path

import click
import msgspec

from errata.cli.consistency_page import json_study, show_frequencies, show_left_out, show_study
from errata.cli.options import Options, shared_options
from errata.cli.output import number, plural, put, put_command, put_json, say
from errata.cli.render.confusion import ratio
from errata.cli.table import put_table
from errata.compare.consistency import refuse_duplicates
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.output.compare import JudgesOutput, NotStudiedOutput, WrittenTableOutput
from errata.review.judge_agreement import OVERALL, JudgesAgreement, Question
from errata.runs.names import runs_named
from errata.verbs import compare as verbs
from errata.verbs.review import judges_agreement
from errata.verbs.store import Store


@click.command("consistency")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="A folder for the tables.")
@click.option("--judges", is_flag=True, help="How far several judges of the same attempts agree, instead.")
@click.option("--force", is_flag=True, help="Write over tables that are there.")
@shared_options
def command(runs: tuple[str, ...], output: Path | None, judges: bool, force: bool, options: Options) -> None:
    """Tell which cases and checks do not come out the same in repeated RUNS.

    Runs of one subject on one suite belong together, and so do the epochs of a run. Into the folder go
    `consistency_run_details.csv`, five tables made of it, and `consistency_summary.md`.
    """
    if judges and output is not None:
        raise SettingsError("`--judges` writes no tables", hint="`--json` prints everything there is to tell of judges")
    store = options.store
    meant = list(runs_named(runs, store))
    if judges:
        _show_judges(meant, options)
    else:
        _show_studies(meant, store, output, force=force, json=options.json)


def _show_studies(runs: list[StoredRun], store: Store, output: Path | None, *, force: bool, json: bool) -> None:
    found = verbs.consistency(runs, store)
    written = verbs.write_studies(found.studies, store, output, force=force) if output and found.studies else []
    for at, study in enumerate(found.studies):
        if json:
            put_json(json_study(study))
        else:
            show_study(study, first=at == 0)
    if json:
        for run, why in found.left_out:
            put_json(
                NotStudiedOutput(
                    run=run.run.native_id, run_id=run.run.id, left_out=why.code, excluded=why.detail or None
                )
            )
    else:
        show_frequencies(found.studies)
        show_left_out(found)
    for one in written:
        if json:
            put_json(WrittenTableOutput(file=one.file, rows=one.rows))
        else:
            say(f"wrote {one.file}" if one.rows is None else f"wrote {one.file} · {plural(one.rows, 'row')}")
    refuse_duplicates(found.studies)


def _show_judges(runs: list[StoredRun], options: Options) -> None:
    found = judges_agreement(runs, options.store)
    if options.json:
        put_json(msgspec.convert(found, JudgesOutput, from_attributes=True))
    else:
        show_judges(found)


LISTED = 20


def show_judges(found: JudgesAgreement) -> None:
    if not found.attempts:
        put("No attempt has a judgement: nothing can be told of judges")
        return
    put(f"{plural(found.attempts, 'attempt')} judged · {found.shared:,} by two or more")
    put()
    _put_judges(found)
    if not found.questions:
        put("\nNo attempt was rated by two judges: agreement cannot be given")
        return
    _put_pairs(found)
    _put_questions(found)
    for question in found.questions:
        if question.name == OVERALL:
            _put_disputes(question)


def _put_judges(found: JudgesAgreement) -> None:
    header = ("judge", "judged", "invalid", "pass", "fail", "mean score")
    rows = [
        (one.name, one.judged, one.invalid or "–", one.passes, one.fails, number(one.score, 3)) for one in found.judges
    ]
    put_table(header, rows, right=header[1:], give_way=("judge",))
    if found.left_out:
        put(f"and {plural(found.left_out, 'judge')} more who said less")


def _put_pairs(found: JudgesAgreement) -> None:
    overall = next((one for one in found.questions if one.name == OVERALL), None)
    if overall is None:
        return
    gaps = {(one.one, one.other): one for one in found.gaps}
    put("\nTwo judges on an attempt as a whole: pass or fail")
    header = ("judge", "and", "both", "same", "kappa", "scores apart")
    rows = []
    for pair in overall.agreement.pairs:
        gap = gaps.get((pair.one, pair.other))
        apart = f"{gap.apart:.3f}" if gap else "–"
        rows.append((pair.one, pair.other, pair.both, pair.same, ratio(pair.kappa), apart))
    put_table(header, rows, right=header[2:], give_way=("judge", "and"))


def _put_questions(found: JudgesAgreement) -> None:
    put("\nAll judges, on the whole and on each check that two of them rated")
    header = ("rated", "attempts", "disputed", "alpha", "Fleiss")
    rows = []
    for one in found.questions[: LISTED + 1]:
        measured = one.agreement
        rows.append((one.name, measured.attempts, len(one.disputes), ratio(measured.alpha), ratio(measured.fleiss)))
    put_table(header, rows, right=header[1:], give_way=("rated",))
    if len(found.questions) > LISTED + 1:
        put(f"and {len(found.questions) - LISTED - 1:,} more, which agree better: `--json`")
    if any(one.agreement.alpha is None or one.agreement.fleiss is None for one in found.questions):
        put("– cannot be given: all said one and the same, as chance alone would, or too few rated it")


def _put_disputes(question: Question) -> None:
    if not question.disputes:
        return
    put(f"\nDisputed as a whole ({len(question.disputes):,})")
    for one in question.disputes[:LISTED]:
        said = " · ".join(f"{judge} {status}{_score(one.scores.get(judge))}" for judge, status in one.said.items())
        put(f"  {one.case}   {said}", hang=4)
        put_command("", ["errata", "show", one.attempt_id], indent=4)
    if len(question.disputes) > LISTED:
        put(f"  and {len(question.disputes) - LISTED:,} more: `--json`")


def _score(score: float | None) -> str:
    return "" if score is None else f" {score:.2f}"
