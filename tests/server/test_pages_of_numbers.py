"""Pages of runs whose results are numbers without a threshold: means, and nothing about passes or failures."""

import re
import time
from html import unescape

import pytest
from tests.conftest import FIXTURES

from errata.verbs.analyze import import_logs
from errata.verbs.store import open_store

pytestmark = pytest.mark.req("N-03")
NUMBERS = FIXTURES / "numbers"
GRADED = FIXTURES / "sources" / "inspect_ai" / "mixed_json" / "data"
F1 = {"good": (0.9, 0.7, 0.85, 0.95, 0.6, 0.8), "poor": (0.5, 0.2, 0.55, 0.25, 1.0, 0.3)}
WER = {"ear-1": ((12.5, 11.5), (30.0, 31.0), (3.5, 4.5)), "ear-2": ((22.5, 21.5), (40.0, 44.0), (13.5, 14.5))}
TRIED = {"often": ("yyyn", "yyyy", "yyny", "yyyy", "yyyn"), "seldom": ("nnyn", "nnyn", "nnny", "nynn", "nnny")}
OVERLAPPING = """() => [...document.querySelectorAll(".scores > div, .board .row, .bracket")].flatMap(row => {
  const texts = [...row.querySelectorAll("svg:not(svg svg), .label, b, .count, .between, .ticks i, .note")]
    .filter(one => one.getClientRects().length && one.textContent.trim());
  const common = (from, to, one, other) => Math.min(one[to], other[to]) - Math.max(one[from], other[from]);
  const meet = (one, other) => !one.contains(other) && [["left", "right"], ["top", "bottom"]].every(
    ends => common(...ends, one.getBoundingClientRect(), other.getBoundingClientRect()) > 1);
  return texts.flatMap((one, at) => texts.slice(at + 1).filter(other => meet(one, other))
    .map(other => `${one.textContent} | ${other.textContent}`));
})"""
"""Texts of a row that lie on each other."""
MAP = 'suite = "{name}"\n[run]\nmodel = {{ column = "model" }}\n[case]\nname = "case"\n{case}\n[attempt]\n{attempt}\n'


def rows(name, folder, head, lines, attempt, case=""):
    (folder / f"{name}.csv").write_text("\n".join((head, *lines)) + "\n")
    (folder / f"{name}.csv.map.toml").write_text(MAP.format(name=name, case=case, attempt=attempt))


@pytest.fixture(scope="module")
def valued(tmp_path_factory):
    folder = tmp_path_factory.mktemp("valued")
    lines = [
        f"c{at},{model},{'even' if at % 2 == 0 else 'odd'},{f1}," for model in F1 for at, f1 in enumerate(F1[model])
    ]
    rows("once", folder, "case,model,category,f1,error", lines, 'score = "f1"', 'category = "category"')
    lines[7] = "c1,poor,odd,,ConnectionError: connection refused by the provider"
    rows("cut", folder, "case,model,category,f1,error", lines, 'score = "f1"\nerror = "error"', 'category = "category"')
    lines = [
        f"w{at},{model},{wer},{number}"
        for model in WER
        for at, tries in enumerate(WER[model])
        for number, wer in enumerate(tries, 1)
    ]
    rows("speech", folder, "case,model,wer,try", lines, 'score = "wer"\nindex = "try"\nlower_is_better = true')
    lines = [
        f"t{at},{model},{sign == 'y'},{number}"
        for model in TRIED
        for at, signs in enumerate(TRIED[model])
        for number, sign in enumerate(signs, 1)
    ]
    rows("tried", folder, "case,model,ok,try", lines, 'passed = "ok"\nindex = "try"')
    path = folder / "errata.db"
    store = open_store(path)
    with store.kept_open():
        import_logs([*(folder / f"{name}.csv" for name in ("once", "cut", "speech", "tried")), NUMBERS, GRADED], store)
    store.engine.dispose()
    return path


@pytest.fixture
def pages(serve, valued):
    return serve(valued)


def ids(pages, suite):
    """Model → id."""
    runs = pages.client.get("/api/runs").json()["runs"]
    return {one["model"]: one["run_id"] for one in runs if one["suite"] == suite}


def words(page):
    """What is read on it, without the frame."""
    main = re.search(r"<main.*?</main>", page, re.DOTALL)[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", main)))


def addresses(pages):
    once, speech = ids(pages, "once"), ids(pages, "speech")
    yield from (f"/?q=suite:{suite}" for suite in ("once", "speech"))
    for run in (*once.values(), *speech.values()):
        yield from (f"/runs/{run}", f"/runs/{run}/passes")
    yield f"/runs/{once['good']}/cases/once%2Fc0/1"
    yield from (f"/compare?runs={','.join(some.values())}" for some in (once, speech))
    yield from (f"/leaderboard?suite={suite}&model=good" for suite in ("once", "speech"))
    yield from ("/cases/once/c0", "/cases/speech/w0", "/search?q=c0")


def test_no_page_of_numbers_says_pass_fail_or_per_cent(pages):
    for address in addresses(pages):
        answer = pages.client.get(address, follow_redirects=True)
        assert answer.status_code == 200
        text = words(answer.text).replace("95 % interval", "")
        found = re.search(r"\d+/\d+|\d %|[Pp]ass|fail|✓|✕|Who has to act(?! Open)|review(?!s |ed Strict)", text)
        assert found is None, (address, text[max(0, found.start() - 80) : found.end() + 80])


def test_a_run_of_numbers_shows_its_mean_its_distribution_its_categories_and_the_lowest_cases_first(pages):
    page = pages.page(f"/runs/{ids(pages, 'once')['good']}")
    text = words(page)

    assert "0.800 , 95 % interval 0.663 to 0.937, 6 cases." in text
    assert "Median 0.825; half of the results lie between" in text
    assert 'class="histogram"' in page
    assert re.search(r"Mean by category .*odd 0\.817 3.*|Mean by category .*even 0\.783 3", text)
    assert re.findall(r">(c\d)</a>", page)[-6:] == ["c4", "c1", "c5", "c2", "c0", "c3"]


def test_where_lower_is_better_the_highest_come_first_and_the_lower_mean_leads(pages):
    page = pages.page(f"/runs/{ids(pages, 'speech')['ear-1']}")
    board = pages.page("/leaderboard?suite=speech")

    assert "wer, lower is better" in words(page)
    assert re.findall(r">(w\d)</a>", page)[-3:] == ["w1", "w0", "w2"]
    assert "30.00 31.00" in words(page)
    assert re.findall(r'class="who"><a[^>]*>([^<]+)', board) == ["ear-1", "ear-2"]
    assert "lower is better · results from 3.500 to 44.00" in words(board)
    assert "3.500 13.63 23.75 33.88 44.00 As reported Clean mean" in words(board)


def test_what_broke_off_has_an_owner_and_no_number(pages):
    runs = ids(pages, "cut")
    run, compared = pages.page(f"/runs/{runs['poor']}"), pages.page(f"/compare?runs={runs['good']},{runs['poor']}")

    assert "1 failed" in words(run)
    assert "0.520 , 95 %" in words(run)
    assert "Largest differences Case good poor Apart c3 0.950 0.250 0.700" in words(compared)
    assert "c1 0.700" not in words(compared)
    assert "odd 3 0.817 0.275" in words(compared)


def test_numbers_are_compared_by_their_means_and_paired_difference(pages):
    runs = ids(pages, "once")
    page = pages.page(f"/compare?runs={runs['good']},{runs['poor']}")
    answer = pages.client.get(f"/api/compare?runs={runs['good']},{runs['poor']}").json()
    shares = next(one["shares"] for one in answer["pairs"])
    low, high = shares["interval"]

    assert f"good vs poor 6 {shares['mean']:+.3f} [{low:+.3f}, {high:+.3f}]" in words(page)
    assert "paired t over cases" in words(page)
    assert "Largest differences Case good poor Apart c3 0.950 0.250 0.700" in words(page)
    assert len(re.findall(r'class="c value"', page)) == 12
    shades = {float(one) for one in re.findall(r'fill-opacity="([0-9.]+)"', page)}
    assert min(shades) == 0.04
    assert max(shades) == 0.44


def test_a_case_that_passes_sometimes_is_drawn_by_its_share_and_tested_by_attempts(pages):
    runs = ids(pages, "tried")
    page = pages.page(f"/compare?runs={runs['often']},{runs['seldom']}")
    pair = words(page).partition("Is the difference real?")[2].partition("Score")[0]

    assert "often, t0: 75.0 %" in page
    assert "Mixed 5" in words(page)
    assert re.search(r"\+60\.0 points \[[^]]+\] (0\.0|< 0\.001)", pair), pair
    assert "paired t over cases" in pair


def test_an_inspect_log_of_grades_shows_its_mean(pages):
    (run,) = ids(pages, "mixed").values()
    page = words(pages.page(f"/runs/{run}"))

    assert re.search(r"Mean .*95 % interval", page)
    assert "5 cases, lowest first" in page


def test_a_result_in_part_is_drawn_by_its_number_beside_passes_and_failures(pages):
    page = pages.page(f"/compare?runs={','.join(ids(pages, 'rubric').values())}")

    assert len(re.findall(r'class="c value"><title>[^<]*: 0\.500</title>', page)) == 22
    assert "fail" not in re.findall(r'class="legend">.*?</figcaption>', page)[0]


def test_passes_by_the_harness_alone_are_no_mean(pages):
    run = ids(pages, "coverage")["narrow"]

    assert "As reported: 24 of 24 passed." in words(pages.page(f"/runs/{run}"))
    assert 'class="was"' not in pages.page("/?q=suite:coverage")
    assert "narrow 2026-11-20 100.0 % 24/24 0.451 24, 0.386 to 0.515" in words(
        pages.page("/leaderboard?suite=coverage")
    )


def test_labels_without_an_order_are_counts_without_a_rank(pages):
    (run,) = ids(pages, "side2").values()
    text = words(pages.page(f"/runs/{run}"))

    assert "Labels left 4 both 4 right 4" in text
    assert "failed" not in text
    assert re.search(r'class="rank">–</b>', pages.page("/leaderboard?suite=side2"))


def test_a_case_with_a_number_is_found_with_its_value(pages):
    deadline = time.monotonic() + 20
    while "c4 good 0.600" not in (text := words(pages.page("/search?q=c4"))):
        assert time.monotonic() < deadline, text
        time.sleep(0.1)


def test_the_day_of_an_import_is_no_day_of_a_run(pages):
    assert re.search(r"good imported \d{4}-\d\d-\d\d", words(pages.page("/leaderboard?suite=once")))


@pytest.mark.parametrize("wide", [1280, 390])
def test_pages_of_numbers_fit_a_window_and_each_value_has_its_room(pages, window, wide):
    once, speech = ids(pages, "once"), ids(pages, "speech")
    page = window(viewport={"width": wide, "height": 800})
    for path in (
        "/",
        f"/runs/{speech['ear-1']}",
        "/leaderboard",
        f"/compare?runs={','.join(once.values())}",
        "/cases/speech/w0",
    ):
        page.goto(pages.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") == wide, path
        overlapping = page.evaluate(OVERLAPPING)
        assert overlapping == [], path
