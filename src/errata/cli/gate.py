"""`errata gate`."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from math import inf
from pathlib import Path
from typing import Any, cast

import click

from errata.cli.fitting import WIDTH, columns
from errata.cli.options import OneOfMany, Options, Word, shared_options
from errata.cli.output import put, put_json, say, write_out
from errata.cli.render.runs import title_of
from errata.cli.table import put_table
from errata.compare.gate import INFRASTRUCTURE, CaseChange, CaseFailure, Gate, GateRules, owners_of
from errata.compare.scores import POLICY_NAMES, Policy
from errata.errors import SettingsError
from errata.json_output.comparison import json_gate
from errata.model.words import OWNERS
from errata.report.gate_comment import groups, headline, notes, rates_header, rates_of, reasons, score_words
from errata.runs.names import handle_of, is_path, run_named
from errata.verbs.gate import FORMATS, format_gate, gate, read_allow_list, record_gate, record_job
from errata.verbs.store import Store

EXITS = {"passed": 0, "failed": 1, "not_comparable": 4}
SHOWN = 20


class Rate(click.ParamType[float]):
    name = "rate"
    highest = 1.0

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            rate = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            rate = -1.0
        if not 0 <= rate <= self.highest:
            self.fail(f"`{text}` is not a {self.name}; write 0.8 or 80%", param, ctx)
        return rate


def format_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Formats for other tools, each with its file."""
    path = click.Path(path_type=Path, dir_okay=False)
    output = click.option("-o", "--output", "outputs", multiple=True, type=path, help="File for --format; repeatable.")
    form = click.option(
        "--format",
        "forms",
        multiple=True,
        type=Word(FORMATS),
        help="Write a comment or JUnit XML instead of the terminal output. Repeatable, with one -o FILE each.",
    )
    return form(output(function))


class Drop(Rate):
    name = "difference"
    highest = inf


@click.command("gate")
@click.argument("run", metavar="RUN")
@click.option(
    "--baseline",
    default="",
    metavar="RUN",
    help="Run to compare with, `branch:NAME`, or `latest-green`: the newest run whose gate passed.",
)
@click.option(
    "--owner",
    "owners",
    multiple=True,
    cls=OneOfMany,
    type=Word((*OWNERS, INFRASTRUCTURE)),
    help="Fail on this owner's new failures; repeatable; default: model.",
)
@click.option("--without-presumed", is_flag=True, help="Ignore failures that are only presumed to be the model's.")
@click.option("--fail-on-missing", is_flag=True, help="Fail if a case of the baseline is not in this run.")
@click.option("--min-score", type=Rate(), metavar="RATE", help="Fail if the score's whole interval is below this.")
@click.option("--max-drop", type=Drop(), metavar="D", help="Fail if the score surely dropped by more than this.")
@click.option(
    "--policy", type=Word(POLICY_NAMES), default="clean", show_default=True, help="Scoring policy for --min-score."
)
@click.option(
    "--allow-list", type=click.Path(path_type=Path), metavar="FILE", help="Cases that may fail, one per line."
)
@click.option(
    "--allow-no-baseline",
    is_flag=True,
    help="A missing baseline is not an error; check only completeness and score.",
)
@click.option("--no-record", is_flag=True, help="Do not store the result, so that `latest-green` ignores it.")
@format_options
@shared_options
def command(
    run: str,
    baseline: str,
    owners: tuple[str, ...],
    allow_list: Path | None,
    no_record: bool,
    forms: tuple[str, ...],
    outputs: tuple[Path, ...],
    options: Options,
    **rules: object,
) -> int:
    """Fail CI on new failures, a low or lower score, or an incomplete run.

    A failure is new if the case passed in the baseline. By default only the model's new failures fail the gate.
    Other owners' failures, infrastructure failures, flaky cases, and missing, added or edited cases are only listed;
    --owner chooses other owners, and --fail-on-missing counts missing cases. Exit codes: 0 passed, 1 failed,
    4 not comparable.
    """
    refuse_unpaired(forms, outputs, options)
    store = options.store
    stored = run_named(run, store)
    if is_path(run):
        record_job(stored.run.id, store, now=datetime.now(UTC))
    asked = GateRules(
        owners=owners_of(owners or ("model",)),
        allowed=read_allow_list(allow_list) if allow_list else (),
        policy=cast(Policy, rules["policy"]),
        min_score=cast("float | None", rules["min_score"]),
        max_drop=cast("float | None", rules["max_drop"]),
        without_presumed=bool(rules["without_presumed"]),
        fail_on_missing=bool(rules["fail_on_missing"]),
        needs_baseline=bool(baseline) and not rules["allow_no_baseline"],
    )
    made = gate(stored, store, asked, baseline=baseline, timeouts=options.settings.timeouts)
    if not no_record:
        record_gate(made, store, now=datetime.now(UTC))
    put_formatted(made, forms, outputs, store)
    if options.json:
        put_json(json_gate(made, recorded=not no_record))
    elif outputs or not forms:
        _show(made, store)
    return EXITS[made.verdict]


def refuse_unpaired(forms: Sequence[str], outputs: Sequence[Path], options: Options) -> None:
    """Each format has its file, or a single one goes to stdout."""
    if len(outputs) > len(forms):
        raise SettingsError("`--output` needs `--format`", hint=f"one of: {', '.join(FORMATS)}")
    if (outputs and len(outputs) < len(forms)) or (len(forms) > 1 and not outputs):
        raise SettingsError("Several formats need a file each", hint="repeat `-o FILE` after each `--format`")
    if forms and not outputs and options.json:
        raise SettingsError("`--json` and `--format` both print to stdout", hint="add `-o FILE`, or leave one out")


def put_formatted(
    made: Gate, forms: Sequence[str], outputs: Sequence[Path], store: Store, *, is_gate: bool = True
) -> None:
    """To files or to stdout, as they are: texts are cleaned and redacted by the format itself."""
    for form, output in zip_longest(forms, outputs):
        text = format_gate(made, form, store, is_gate=is_gate)
        if output is None:
            write_out(text)
            continue
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SettingsError(f"`{output}` can't be written: {error.strerror}", hint="name another file") from error
        say(f"wrote {output}")


def _show(made: Gate, store: Store) -> None:
    given = made.given
    put(title_of(given.run.run, handle_of(given.run, store)))
    if given.baseline is not None:
        put(f"baseline: {title_of(given.baseline.run, handle_of(given.baseline, store))}")
    put(headline(made))
    for sentence in (*reasons(made), *notes(made)):
        put(f"  {sentence}")
    put()
    _put_scores(made)
    for group in groups(made):
        put()
        put(f"{group.title} · {group.note}" if group.note else group.title)
        _put_cases(group.cases[:SHOWN])
        if len(group.cases) > SHOWN:
            put(f"{len(group.cases) - SHOWN:,} more with --json")


def _put_cases(cases: Sequence[CaseChange]) -> None:
    """Reasons that do not fit beside the other columns are printed below their rows."""
    reasons = [one.failure.reason for one in cases]
    header, rows = _without_empty(
        ("case", "owner", rates_header(cases)), [(one.name, _owner(one.failure), rates_of(one)) for one in cases]
    )
    taken = sum(2 + max(columns(name), *(columns(row[at]) for row in rows)) for at, name in enumerate(header))
    if not any(reasons):
        put_table(header, rows)
    elif all(taken + columns(reason) <= WIDTH for reason in reasons):
        put_table((*header, "why"), [(*row, reason or "–") for row, reason in zip(rows, reasons, strict=True)])
    else:
        put_table(header, rows, below=reasons, below_lines=2)


def _owner(failure: CaseFailure) -> str:
    return f"{failure.owner or '–'}{' (presumed)' if failure.is_presumed else ''}"


def _without_empty(
    header: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    kept = [at for at in range(len(header)) if any(row[at] not in ("", "–") for row in rows)]
    return tuple(header[at] for at in kept), [tuple(row[at] or "–" for at in kept) for row in rows]


def _put_scores(made: Gate) -> None:
    given = made.given
    policies = [policy for policy in POLICY_NAMES if given.scores[policy].total]
    rows = [
        (policy, *(score_words(scores[policy]) for scores in (given.baseline_scores, given.scores) if scores))
        for policy in policies
    ]
    if rows:
        put_table(("score", "baseline", "this run") if given.baseline_scores else ("score", "this run"), rows)
