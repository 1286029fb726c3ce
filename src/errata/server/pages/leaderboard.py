"""`/leaderboard`: who is better, given what we know?"""

from collections.abc import Iterator, Sequence
from functools import partial

from errata.compare.scores import BoardRow, BoardRun, Policy, Score, SuiteBoard
from errata.errors import NotFoundError
from errata.model import StoredRun
from errata.model.record import Struct
from errata.model.run import subject_label
from errata.model.words import OWNERS
from errata.render import charts
from errata.render.blocks_html import page_text
from errata.render.document import Scale, ScoreBar, scale_of
from errata.render.figures import decimal, hundredths, left_out_reason, plural
from errata.server.exchange import Endpoint, Exchange, Page
from errata.server.layout import link
from errata.server.pages.addresses import compare_page, leaderboard_page, run_page
from errata.verbs.compare import list_leaderboards

WORDS: dict[Policy, str] = {"clean": "Clean", "reviewed": "Reviewed", "strict": "Strict", "as_reported": "As reported"}


class LeaderboardQuery(Struct):
    suite: str = ""
    """One suite only."""
    policy: Policy = "clean"
    """By which rows are scored; ranks always rest on the clean results."""
    model: str = ""
    """Whose history is shown."""


def leaderboard(exchange: Exchange) -> Page:
    query = exchange.arguments(LeaderboardQuery)
    boards = list_leaderboards(exchange.store, timeouts=exchange.settings.timeouts)
    if query.suite:
        boards = [board for board in boards if board.suite == query.suite]
    if query.suite and not boards:
        raise NotFoundError(f"No run of `{query.suite}` in this store", hint="the leaderboard lists every suite")
    cards = "".join(_board(board, query) for board in boards)
    empty = "<p>A leaderboard needs at least one fit run. <code>errata import PATH</code> reads runs.</p>"
    count = plural(len(boards), "suite")
    brief = (
        f"{count}, kept apart by version · the newest fit run of each model · models share a rank where the data "
        "can't tell them apart"
    )
    head = f'<div class="head"><h1>Leaderboard</h1><p class="brief">{brief}</p>{_policies(query)}</div>'
    return Page(
        title="Leaderboard",
        section="leaderboard",
        body=head + (cards or empty),
        command="errata score RUN RUN --pooled",
    )


def _policies(query: LeaderboardQuery) -> str:
    links = "".join(
        f'<a href="{leaderboard_page(suite=query.suite, policy=policy, model=query.model)}"'
        f"{' aria-current=true' * (policy == query.policy)}>{word}</a>"
        for policy, word in WORDS.items()
        if policy != "as_reported"
    )
    legend = "hollow points: as reported; bars: 95 % intervals"
    return f'<p class="switch">Score: {links} <span class="note">{legend}</span></p>'


def _board(board: SuiteBoard, query: LeaderboardQuery) -> str:
    named = [part for part in (board.version, board.experiment) if part]
    facts = [plural(board.cases, "case")]
    if board.shared is not None:
        facts.append(f"ranks rest on the {plural(board.shared, 'case')} that every run measured")
    if board.why_no_ranks:
        facts.append(f"no ranks: {board.why_no_ranks}")
    version = f' <span class="version">{page_text(" ".join(named))}</span>' if named else ""
    if any(row.newest.scores["clean"].lower_is_better for row in board.ranked):
        facts.append("lower is better")
    scale = scale_of(run.scores[query.policy].spread for row in board.ranked for run in (row.newest, *row.history))
    if not scale.of_rates:
        facts.append(f"results from {decimal(scale.low)} to {decimal(scale.high)}")
    note = f'<span class="note">{page_text(" · ".join(facts))}</span>'
    head = f"<h2>{page_text(board.suite or 'no suite')}{version} {note}</h2>"
    policy = WORDS[query.policy]
    ticks = ("0", "25", "50", "75", "100 %") if scale.of_rates else charts.axis_ticks(scale, 4)
    heads = (
        '<div class="row heads"><span>Rank</span><span>Model</span><span class="ticks">'
        f"{''.join(f'<i>{tick}</i>' for tick in ticks)}</span><span>As reported</span>"
        f"<span>{policy}{'' if scale.of_rates else ' mean'}</span><span>Left out</span><span>History</span></div>"
    )
    rows = "".join(_ranked(row, board, query, scale) for row in board.ranked)
    others = "".join(_unranked(row) for row in board.unranked)
    runs = [row.newest.stored.run.id for row in board.ranked]
    waiting = "".join(_waiting(stored) for stored in board.waiting)
    below = f'<p class="more">{link(compare_page(*runs), "Compare these runs")}</p>' if len(runs) > 1 else ""
    return f'<section class="card board">{head}{heads if rows else ""}{rows}{others}{waiting}{below}</section>'


def _ranked(row: BoardRow, board: SuiteBoard, query: LeaderboardQuery, scale: Scale) -> str:
    run, reported, shown = row.newest, row.newest.scores["as_reported"], row.newest.scores[query.policy]
    is_other = reported.mean is None and not scale.of_rates
    lanes = charts.two_lanes(
        _bar("as reported", Score(policy="as_reported") if is_other else reported),
        _bar(query.policy, shown),
        page_text,
        scale,
    )
    more = leaderboard_page(suite=board.suite, policy=query.policy, model="" if query.model == row.label else row.label)
    spark = charts.sparkline([one.scores[query.policy].rate for one in row.history], page_text, scale)
    history = f"{spark if len(row.history) > 1 else ''}{link(more, plural(len(row.history), 'run'))}"
    cells = (
        f'<b class="rank">{_rank(row)}</b>',
        f'<span class="who">{link(run_page(run.stored.run.id), row.label)}'
        f'<span class="note">{page_text(run.dated)}</span></span>',
        lanes,
        _figure(reported, Scale() if is_other else scale),
        _figure(shown, scale, between=True),
        f'<span class="chips">{"".join(_left_out(shown)) or "nothing"}</span>',
        f'<span class="history">{history}</span>',
    )
    opened = _history(row, query, scale) if query.model == row.label else ""
    return f'<div class="row">{"".join(cells)}</div>{opened}'


def _rank(row: BoardRow) -> str:
    if row.best is None or row.worst is None or row.newest.scores["clean"].rate is None:
        return "–"
    return str(row.best) if row.best == row.worst else f"{row.best}–{row.worst}"


def _bar(label: str, score: Score) -> ScoreBar:
    low, high = score.interval or (None, None)
    return ScoreBar(label, score.rate, low, high)


def _figure(score: Score, scale: Scale, *, between: bool = False) -> str:
    if score.rate is None:
        return f'<span class="figure">–<span class="note">{page_text(score.note)}</span></span>'
    count = _count(score, scale)
    if between and score.interval:
        spelled = partial(hundredths, digits=0) if scale.of_rates else decimal
        count += f", {' to '.join(map(spelled, score.interval))}"
    return f'<span class="figure"><b>{scale.figure(score.rate)}</b><span class="note">{page_text(count)}</span></span>'


def _count(score: Score, scale: Scale) -> str:
    return "" if not score.total else f"{score.passed:,}/{score.total:,}" if scale.of_rates else f"{score.total:,}"


def _left_out(score: Score) -> Iterator[str]:
    for why, count in score.left_out.items():
        name = charts.chip(why, page_text) if why in OWNERS else page_text(left_out_reason(why))
        yield f'<span class="own">{name} {count:,}</span>'


def _unranked(row: BoardRow) -> str:
    run = row.newest
    return (
        f'<div class="row none"><b class="rank">–</b><span class="who">{page_text(row.label)}'
        f'<span class="note">{page_text(run.dated)}</span></span>'
        f'<span class="why">Not ranked: {page_text(run.why_not)}</span>'
        f"<span>{link(run_page(run.stored.run.id), 'See why')}</span></div>"
    )


def _waiting(stored: StoredRun) -> str:
    run = stored.run
    return (
        f'<div class="row none"><b class="rank">–</b><span class="who">{page_text(subject_label(run))}</span>'
        f'<span class="why">Not ranked yet: its owners are being worked out</span>'
        f"<span>{link(run_page(run.id), 'See how far')}</span></div>"
    )


def _history(row: BoardRow, query: LeaderboardQuery, scale: Scale) -> str:
    scored = [run for run in row.history if run.scores[query.policy].rate is not None]
    bars = [_history_bar(run, query.policy, scale) for run in scored]
    others = [run for run in row.history if run not in scored]
    notes = "".join(f"<li>{page_text(run.dated)}: {page_text(run.why_not or 'no score')}</li>" for run in others)
    links = "".join(f"<li>{link(run_page(run.stored.run.id), _name(run, row.history))}</li>" for run in row.history)
    listed = f'<ul class="inline">{links}</ul>' + (f"<ul>{notes}</ul>" if notes else "")
    head = f"<h3>Every run of {page_text(row.label)}</h3>"
    return f'<div class="opened">{head}{charts.score_bars(bars, page_text, scale)}{listed}</div>'


def _history_bar(run: BoardRun, policy: Policy, scale: Scale) -> ScoreBar:
    score = run.scores[policy]
    low, high = score.interval or (None, None)
    label = f"{run.dated} (not fit)" if run.why_not else run.dated
    return ScoreBar(label, score.rate, low, high, count=_count(score, scale), is_hollow=bool(run.why_not))


def _name(run: BoardRun, history: Sequence[BoardRun]) -> str:
    same = sum(one.dated == run.dated for one in history)
    return f"{run.dated} {run.stored.run.native_id[:12]}" if same > 1 else run.dated


ENDPOINTS = (
    Endpoint(path="/leaderboard", handler=leaderboard, query=LeaderboardQuery, summary="Models ranked by suite."),
)
