"""`/compare`: where do runs really differ, and which failures say more about the eval than about anyone?"""

from collections.abc import Iterator, Sequence

from errata.compare.comparison import Comparison, ComparisonOptions
from errata.errors import NotComparableError
from errata.json_output.runs import run_outputs
from errata.model.cells import Cell, FailedCell
from errata.model.identity import split_attempt_id
from errata.model.output.compare import RunPairOutput
from errata.model.output.runs import ListedRunOutput
from errata.model.record import Struct
from errata.model.words import NOT_THE_SUBJECTS
from errata.render import charts
from errata.render.blocks_html import page_text, scrolling
from errata.render.document import Grid, Scale, ScoreBar, scale_of
from errata.render.figures import NONE, decimal, p_value, percent, plural, points
from errata.render.palette import LEGEND, LETTERS, owners_to_show
from errata.render.time_lanes import DensityParts, DensityRow, density
from errata.server.exchange import Endpoint, Exchange, Page
from errata.server.layout import card, link, notice, table
from errata.server.pages.addresses import attempt_page, case_page, compare_page, run_page
from errata.text.shell import shell_word
from errata.verbs.compare import cells_of_comparison, compare
from errata.verbs.store import handles_of, stored_runs

MOST_COLUMNS = 600
"""Cases in the matrix; those after them are on further pages."""
NAMED = 12
VALUED = ("number", "mixed")
"""States of cells that are drawn by their value."""
GROUPS = ("Failed by all", "No pass, not all measured", "One passes", "Mixed", "One fails")
ORDER_OF_OWNERS = (
    "grader", "environment", "task", "harness", "simulator", "collateral", "provider", "unknown", "budget", "model"
)  # fmt: skip
"""Faults of the eval come first."""


class ComparePageQuery(Struct):
    runs: str = ""
    """Names of runs, with commas between them."""
    common: bool = False
    """Compare runs of unequal suites, on the cases that they share."""
    sel: str = ""
    """The case that is looked at."""
    first: int = 0
    """How many cases of the matrix to leave out."""


class ComparedPage(Struct):
    """What the parts of the page share."""

    comparison: Comparison
    cells: list[dict[str, FailedCell]]
    query: ComparePageQuery

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(one.label for one in self.comparison.runs)

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(one.runs[0].run.id for one in self.comparison.runs)

    @property
    def scale(self) -> Scale:
        return scale_of(one.scores["strict"].spread for one in self.comparison.runs)

    @property
    def of_numbers(self) -> bool:
        """Whether results are numbers, so that nothing passed or failed by itself."""
        return not self.scale.of_rates

    def values(self, case: str) -> list[float | None]:
        """Of each run."""
        return [cell.result if cell is not None else None for cell in self.comparison.matrix.rows[case]]

    def apart(self, case: str) -> float:
        """By how much the runs differ on it."""
        known = [value for value in self.values(case) if value is not None]
        return max(known) - min(known) if known else 0.0

    def name(self, case: str) -> str:
        return self.comparison.cases[case].name

    def case_link(self, case: str) -> str:
        """To what is shown of it on this page."""
        return link(self.address(sel=case) + "#selected", self.name(case))

    def address(self, **query: str) -> str:
        given = {"common": "true" if self.query.common else "", "sel": self.query.sel, **query}
        return compare_page(*self.run_ids, **given)


def compare_runs(exchange: Exchange) -> Page:
    query = exchange.arguments(ComparePageQuery)
    names = [name for name in query.runs.split(",") if name.strip()]
    if len(names) < 2:
        return _choose(exchange, names)
    stored = stored_runs(names, exchange.store)
    options = ComparisonOptions(common=query.common, timeouts=exchange.settings.timeouts)
    try:
        comparison = compare(stored, exchange.store, options)
    except NotComparableError as error:
        return _refusal_page(error, [one.run.id for one in stored], query)
    page = ComparedPage(comparison=comparison, cells=cells_of_comparison(comparison, exchange.store), query=query)
    handles = handles_of(stored)
    words = ["errata", "compare", *(shell_word(handles[one.run.id]) for one in stored)]
    return Page(
        title="Compare",
        section="compare",
        body="".join(_body(page)),
        command=" ".join([*words, *(["--common"] if query.common else [])]),
        scripts=("matrix.js",),
    )


# --- which runs


def _choose(exchange: Exchange, chosen: Sequence[str]) -> Page:
    """Nothing to compare yet: the runs by suite, with boxes to tick."""
    suites: dict[str, list[ListedRunOutput]] = {}
    for run in run_outputs(exchange.store):
        suites.setdefault(run.suite or "no suite", []).append(run)
    known = {one.run.id for one in stored_runs(chosen, exchange.store)} if chosen else set()
    lists = "".join(_suite_choice(suite, runs, known) for suite, runs in suites.items())
    form = f'<form action="/compare" class="choose">{lists}<button class="primary">Compare</button></form>'
    lead = "Pick a second run." if known else "Pick two runs or more. Runs of one suite can be compared case by case."
    body = f"<h1>Compare</h1><p>{lead}</p>{form}" if suites else "<h1>Compare</h1><p>No runs in this store yet.</p>"
    return Page(title="Compare", section="compare", body=body, command="errata compare RUN RUN")


def _suite_choice(suite: str, runs: Sequence[ListedRunOutput], chosen: set[str]) -> str:
    rows = "".join(
        f'<li><label><input type="checkbox" name="runs" value="{page_text(run.run_id)}"'
        f"{' checked' * (run.run_id in chosen)}> <b>{page_text(run.model or run.run)}</b> "
        f'<span class="note">{page_text(run.run)}, {plural(run.counts.attempts_in_log, "attempt")}, '
        f"{page_text((run.started_at or run.imported_at)[:10])}</span></label></li>"
        for run in runs
    )
    return f'<fieldset class="card"><legend>{page_text(suite)}</legend><ul>{rows}</ul></fieldset>'


def _refusal_page(error: NotComparableError, runs: Sequence[str], query: ComparePageQuery) -> Page:
    lines = "".join(f"<li>{page_text(one)}</li>" for one in error.hint.splitlines() if "`--common`" not in one)
    body = f"<h1>{page_text(error.message)}</h1><ul>{lines}</ul>"
    if not query.common and "`--common`" in error.hint:
        body += f"<p>{link(compare_page(*runs, common='true'), 'Compare the cases that they share', kind='button')}</p>"
    body += f"<p>{link('/compare', 'Pick other runs')}</p>"
    return Page(title="Compare", section="compare", body=body, status=409)


# --- the page


def _body(page: ComparedPage) -> Iterator[str]:
    yield from _head(page)
    yield _matrix(page)
    if page.of_numbers:
        failed = _failed_by_all(page) + _uniques(page) if page.comparison.failed_rows else ""
        yield f'<div class="halves">{_scores(page)}{_is_it_real(page)}{_largest(page)}{_categories(page)}{failed}</div>'
        return
    yield f'<div class="thirds">{_failed_by_all(page)}{_uniques(page)}{_is_it_real(page)}</div>'
    yield f'<div class="halves">{_scores(page)}{_deviations(page)}</div>'


def _head(page: ComparedPage) -> Iterator[str]:
    comparison = page.comparison
    suites = dict.fromkeys(one.runs[0].run.suite for one in comparison.runs)
    cases = plural(len(comparison.matrix.rows), "case")
    yield f'<div class="head"><h1>{plural(len(comparison.runs), "run")}, {cases}</h1>'
    facts = [page_text(suite) for suite in suites if suite]
    facts.append(
        "suites equal"
        if not comparison.differences
        else f"{plural(len(comparison.differences), 'difference')} between the runs"
    )
    yield f'<p class="brief">{" · ".join(facts)}</p></div>'
    for difference in comparison.differences:
        values = "; ".join(f"{value} in {', '.join(labels)}" for value, labels in difference.values.items())
        cases = plural(len(difference.cases), "case") if difference.cases else ""
        yield notice(f"{difference.what}: {values or cases}" + ("" if not (values and cases) else f" ({cases})"))
    for stored, why in comparison.left_out:
        yield notice(f"Left out: {stored.run.subject.model or stored.run.native_id}, {why}")
    for column in comparison.runs:
        if column.problems:
            yield notice(f"{column.label} is not fit for comparison: {column.problems[0]}")


def _matrix(page: ComparedPage) -> str:
    matrix = page.comparison.matrix
    passed = matrix.passed_everywhere
    shown = [case for case in matrix.rows if case not in passed]
    if not shown:
        return card("Every case", f"<p>All {plural(len(passed), 'case')} passed in every run.</p>")
    groups = _grouped(page, shown)
    order = [case for _, cases in groups for case in cases]
    window = order[page.query.first : page.query.first + MOST_COLUMNS]
    grid = _grid(page, window, groups)
    more = _further(page, len(order))
    overview = _overview(page, order) if len(order) > MOST_COLUMNS and any(page.cells) else ""
    note = f"{plural(len(passed), 'case')} passed by all not shown" if passed else ""
    return card("Every case", overview + charts.matrix(grid, page_text) + more + _selected(page), note=note)


def _overview(page: ComparedPage, order: Sequence[str]) -> str:
    """All cases at once, above the part whose cells are shown."""
    rows = [
        DensityRow(label, [cells[case].owner if case in cells else "" for case in order])
        for label, cells in zip(page.labels, page.cells, strict=True)
    ]
    parts = DensityParts(MOST_COLUMNS, page.query.first, lambda first: page.address(first=str(first or "")))
    return density(rows, parts, page_text)


def _grouped(page: ComparedPage, cases: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Faults of the eval first within each group."""
    if page.of_numbers:
        return [("By difference", sorted(cases, key=page.apart, reverse=True))]
    members: dict[str, list[str]] = {title: [] for title in GROUPS}
    by_all = frozenset(page.comparison.sets.failed_by_all.runs)

    def first_owner(case: str) -> int:
        owners = (cells[case].owner for cells in page.cells if case in cells)
        return min(map(ORDER_OF_OWNERS.index, owners), default=len(ORDER_OF_OWNERS))

    for case in sorted(cases, key=first_owner):
        members[_group_of(page.comparison.matrix.rows[case], is_by_all=case in by_all)].append(case)
    return [(title, grouped) for title, grouped in members.items() if grouped]


def _group_of(row: Sequence[Cell | None], *, is_by_all: bool) -> str:
    if is_by_all:
        return "Failed by all"
    if any(cell is not None and cell.state == "mixed" for cell in row):
        return "Mixed"
    passed = sum(cell is not None and cell.passed for cell in row)
    failed = sum(cell is not None and cell.failed for cell in row)
    if not passed:
        return "No pass, not all measured"
    if len(row) > 2 and passed + failed == len(row) and 1 in (passed, failed):
        return "One passes" if passed == 1 else "One fails"
    return "Mixed"


def _grid(page: ComparedPage, window: Sequence[str], groups: Sequence[tuple[str, list[str]]]) -> Grid:
    comparison, place = page.comparison, {case: at for at, case in enumerate(window)}
    states = [[_state_of(comparison, case, at) for case in window] for at in range(len(page.cells))]
    used = {LETTERS[state] for row in states for state in row}
    owners = [
        [
            cells[case].owner if case in cells and state not in VALUED else ""
            for case, state in zip(window, row, strict=True)
        ]
        for cells, row in zip(page.cells, states, strict=True)
    ]
    ends = " to ".join(map(decimal, (page.scale.low, page.scale.high)))
    legend = LEGEND | {"n": f"a number; a stronger shade is higher: {ends}", "~": "share of its attempts that passed"}
    values = [page.values(case) for case in window]
    return Grid(
        rows=page.labels,
        columns=tuple(page.name(case) for case in window),
        cells=tuple("".join(LETTERS[state] for state in row) for row in states),
        legend={letter: means for letter, means in legend.items() if letter in used},
        owners=owners_to_show(states, owners),
        groups=tuple(
            (title, tuple(place[case] for case in cases if case in place))
            for title, cases in groups
            if any(case in place for case in cases)
        ),
        notes=tuple(page.scale.figure(one.scores["clean"].rate) for one in comparison.runs),
        targets=tuple(
            tuple(
                _attempt_address(run, cells[case].attempt) if case in cells else page.address(sel=case)
                for case in window
            )
            for run, cells in zip(page.run_ids, page.cells, strict=True)
        ),
        values=tuple(
            tuple(of_case[at] if state in VALUED else None for of_case, state in zip(values, row, strict=True))
            for at, row in enumerate(states)
        ),
        scale=page.scale,
        selected=place.get(page.query.sel),
    )


def _state_of(comparison: Comparison, case: str, at: int) -> str:
    """`number` for a case with a number, including one for a result in part."""
    cell = comparison.matrix.rows[case][at]
    return "number" if cell is not None and cell.value is not None else comparison.state_of(cell)


def _attempt_address(run: str, attempt: str) -> str:
    parts = split_attempt_id(attempt)
    return attempt_page(run, parts.case, parts.index)


def _further(page: ComparedPage, total: int) -> str:
    first, links = page.query.first, []
    if first:
        links.append(
            link(page.address(first=str(max(0, first - MOST_COLUMNS)) if first > MOST_COLUMNS else ""), "Before")
        )
    if first + MOST_COLUMNS < total:
        links.append(link(page.address(first=str(first + MOST_COLUMNS)), f"Next {MOST_COLUMNS}"))
    if not links:
        return ""
    last = min(total, first + MOST_COLUMNS)
    return f'<p class="more">Cases {first + 1:,} to {last:,} of {total:,}. {" ".join(links)}</p>'


def _selected(page: ComparedPage) -> str:
    case = page.query.sel
    if case not in page.comparison.matrix.rows:
        return ""
    parts = []
    row = page.comparison.matrix.rows[case]
    for label, run, cells, cell in zip(page.labels, page.run_ids, page.cells, row, strict=True):
        if cell is not None and cell.value is not None:
            shown = link(attempt_page(run, case, 1), label)
            parts.append(f"<li>{shown} <b>{decimal(cell.value)}</b></li>")
        elif cell is not None and cell.state == "mixed":
            shown = link(_attempt_address(run, cells[case].attempt), label) if case in cells else page_text(label)
            parts.append(
                f"<li>{shown} <span class=note>{cell.passes:,} of {cell.passes + cell.fails:,} passed</span></li>"
            )
        elif case in cells:
            chip = charts.named_chip(cells[case].owner, page_text)
            parts.append(f"<li>{link(_attempt_address(run, cells[case].attempt), label)} {chip}</li>")
        else:
            parts.append(f"<li>{page_text(label)} <span class=note>did not fail</span></li>")
    suite = page.comparison.runs[0].runs[0].run.suite
    head = link(case_page(suite, case), page.name(case)) if suite else page_text(page.name(case))
    return f'<div class="strip-below" id="selected"><h3>{head}</h3><ul class="inline">{"".join(parts)}</ul></div>'


# --- cards


def _failed_by_all(page: ComparedPage) -> str:
    cases = page.comparison.sets.failed_by_all.runs
    if not cases:
        return card("Failed by all", "<p>No case fails in every run.</p>")

    def chips(case: str) -> str:
        return "".join(charts.chip(cells[case].owner, page_text) for cells in page.cells if case in cells)

    rows = "".join(
        f"<li>{page.case_link(case)}<span class=chips>{chips(case)}</span></li>" for case in cases[:MOST_COLUMNS]
    )
    note = f"{plural(len(cases), 'case')}; look here first for faults of the eval"
    return card("Failed by all", f'<ul class="cases">{rows}</ul>', note=note)


def _uniques(page: ComparedPage) -> str:
    """What only one model passes or fails; of runs, where there is one model."""
    sets = page.comparison.sets
    uniques = sets.of_subjects if len(sets.of_subjects.fails) > 1 else sets.of_runs
    parts = []
    for verb, by_label in (("passes", uniques.passes), ("fails", uniques.fails)):
        for label, cases in by_label.items():
            if not cases:
                continue
            named = ", ".join(map(page.case_link, cases[:NAMED]))
            more = f" and {len(cases) - NAMED:,} more" if len(cases) > NAMED else ""
            parts.append(
                f"<h3>Only {page_text(label)} {verb} <span class=note>{len(cases):,}</span></h3><p>{named}{more}</p>"
            )
    return card("Unique", "".join(parts) or "<p>No case is passed or failed by one alone.</p>")


def _is_it_real(page: ComparedPage) -> str:
    pairs = page.comparison.models.pairings or page.comparison.pairings
    pairs = tuple(pair for pair in pairs if pair.all.shared or pair.shares)
    if not pairs:
        return card("Is the difference real?", "<p>No two runs share a measured case.</p>")
    rows = (_pair_cells(pair, page) for pair in sorted(pairs, key=lambda pair: pair.difference.p))
    counts = ("Cases#",) if page.of_numbers else ("Only the first fails#", "Only the second fails#")
    head = ("Pair", *counts, "Difference (95 % interval)", "p#")
    tests = ["paired t over cases"] * any(pair.shares for pair in pairs)
    tests += ["exact McNemar"] * any(pair.shares is None for pair in pairs)
    holm = ", Holm" if len(pairs) > 1 else ""
    without = "" if page.of_numbers else ", without infrastructure failures"
    note = f"{', '.join(tests)}{holm}{without}"
    return card("Is the difference real?", table(head, rows, label="pairs of runs"), note=note)


def _pair_cells(pair: RunPairOutput, page: ComparedPage) -> tuple[str, ...]:
    """By all attempts, where some cases pass in some of them only."""
    tally, shares, difference = pair.clean, pair.shares, pair.difference
    p = p_value(difference.adjusted).removeprefix("p ").removeprefix("= ")
    apart = shares.mean if shares is not None else tally.difference
    cases = shares.cases if shares is not None else tally.shared
    counts = [cases] if page.of_numbers else [tally.only_first_fails, tally.only_second_fails]
    return (
        f"{page_text(pair.first)} vs {page_text(pair.second)}",
        *(f"{count:,}" for count in counts),
        page_text(NONE if apart is None else points(apart, difference.interval, of_rates=not page.of_numbers)),
        f"<b>{page_text(p)}</b>" if difference.differs else page_text(p),
    )


def _largest(page: ComparedPage) -> str:
    """Cases on which the runs differ most."""
    shared = [case for case in page.comparison.matrix.rows if sum(value is not None for value in page.values(case)) > 1]
    cases = sorted(shared, key=page.apart, reverse=True)[:NAMED]
    rows = (
        (page.case_link(case), *map(decimal, page.values(case)), f"<b>{decimal(page.apart(case))}</b>")
        for case in cases
    )
    head = ("Case", *(f"{label}#" for label in page.labels), "Apart#")
    return card("Largest differences", table(head, rows, label="largest differences"))


def _categories(page: ComparedPage) -> str:
    rows = ((page_text(one.name), f"{one.cases:,}", *map(decimal, one.means)) for one in page.comparison.categories)
    head = ("Category", "Cases#", *(f"{label}#" for label in page.labels))
    shown = table(head, rows, label="means by category")
    return card("Mean by category", shown) if page.comparison.categories else ""


def _scores(page: ComparedPage) -> str:
    bars = [
        ScoreBar(
            column.label,
            clean.rate,
            low=clean.interval[0] if clean.interval else None,
            high=clean.interval[1] if clean.interval else None,
            count="" if not clean.total else f"{clean.total}" if clean.spread else f"{clean.passed}/{clean.total}",
            measured=column.scores["strict"].rate,
        )
        for column in page.comparison.columns
        for clean in [column.scores["clean"]]
    ]
    links = " ".join(link(run_page(run), label) for run, label in zip(page.run_ids, page.labels, strict=True))
    left_out = sum(
        count
        for column in page.comparison.columns
        for why, count in column.scores["clean"].left_out.items()
        if why in NOT_THE_SUBJECTS
    )
    note = "clean, 95 % interval; hollow: strict"
    below = f"<p>Clean leaves out {plural(left_out, 'infrastructure failure')}.</p>" if left_out else ""
    return card(
        "Mean" if page.of_numbers else "Score",
        charts.score_bars(bars, page_text, page.scale) + below + f'<p class="links">{links}</p>',
        note=note,
    )


def _deviations(page: ComparedPage) -> str:
    exceptions = page.comparison.models.exceptions
    if not exceptions:
        return card("By category", "<p>No model deviates in a category beyond chance.</p>")
    rows = (
        (
            page_text(deviation.label),
            page_text(deviation.category),
            f"{deviation.cases:,}",
            percent(deviation.rate),
            percent(deviation.expected),
            page_text(points(deviation.deviation, deviation.interval)),
        )
        for deviation in exceptions
    )
    head = ("Model", "Category", "Cases#", "Rate#", "Expected#", "Deviation (95 % interval)")
    shown = scrolling(table(head, rows, label="deviations"), "deviations by category")
    return card("By category", shown, note="Benjamini-Hochberg, 5 %")


ENDPOINTS = (
    Endpoint(path="/compare", handler=compare_runs, query=ComparePageQuery, summary="Runs compared case by case."),
)
