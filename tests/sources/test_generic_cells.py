"""Tables of one's own, as spreadsheets write them: currencies, dates with the year last, and empty rows."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_map_wide_words import imported

from errata.model import Item, Unreadable
from errata.sources.generic.dates import date_order, moment
from errata.sources.generic.draft import draft_mapping
from errata.sources.generic.mapping import load
from errata.sources.generic.reader import MappedSource
from terminal import errata

MAPPING = '[case]\nname = "task"\n[attempt]\npassed = "ok"\n'


def table(folder: Path, column: str, *values: str) -> Path:
    path = folder / "log.csv"
    rows = [f"t{at};{at % 2};{value}" for at, value in enumerate(values)]
    path.write_text("\n".join([f"task;ok;{column}", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("column", "values", "currency"),
    [
        ("Kosten (€)", ("0.02", "0.03"), "EUR"),
        ("cost_eur", ("0.02", "0.03"), "EUR"),
        ("cost", ("0.02 €", "0.03 €"), "EUR"),
        ("cost", ("0,02 €", "0,03 €"), "EUR"),
        ("cost", ("£0.02", "£0.03"), "GBP"),
        ("cost", ("0.02 CHF", "0.03 CHF"), "CHF"),
        ("cost", ("$0.02", "$0.03"), "USD"),
        ("cost_usd", ("0.02", "0.03"), "USD"),
        ("cost", ("0.02", "0.03"), "USD"),
    ],
)
def test_the_currency_comes_from_the_column_or_its_cells(
    tmp_path: Path, column: str, values: tuple[str, str], currency
):
    attempts = imported(table(tmp_path, column, *values))

    assert [(one.usage.cost, one.usage.subject.currency) for one in attempts] == [(0.02, currency), (0.03, currency)]


def test_the_mapping_may_give_the_currency(tmp_path: Path):
    path = table(tmp_path, "cost", "0.02", "0.03")

    assert imported(path, f'currency = "EUR"\n{MAPPING}cost = "cost"')[0].usage.subject.currency == "EUR"


def test_euros_are_not_shown_as_dollars(tmp_path: Path):
    path = table(tmp_path, "Kosten (€)", "0.02", "0.03")
    store = tmp_path / "s.db"
    imported(path)
    errata("import", "--store", store, path)

    shown = errata("score", "--store", store, "log").out

    assert "€0.0500 total" in shown
    assert "$" not in shown


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (("04.11.2025 10:27", "25.11.2025 9:05"), "2025-11-04T10:27"),
        (("04.11.2025", "5.11.2025"), "2025-11-04"),
        (("04/11/2025 10:27:30", "25/11/2025 10:27:31"), "2025-11-04T10:27:30"),
        (("04/11/2025", "04/25/2025"), "2025-04-11"),
    ],
)
def test_dates_with_the_year_last_are_understood(tmp_path: Path, values: tuple[str, str], first: str):
    assert imported(table(tmp_path, "started", *values), f'{MAPPING}started_at = "started"')[0].started_at == first


@pytest.mark.parametrize("values", [("04/05/2025", "05/05/2025"), ("25/11/2025", "11/25/2025")])
def test_dates_that_could_mean_two_days_are_reported(tmp_path: Path, values: tuple[str, str]):
    attempts = imported(table(tmp_path, "started", *values), f'{MAPPING}started_at = "started"')

    assert [one.started_at for one in attempts] == [None, None]
    assert [one.extra["not_understood"]["started_at"] for one in attempts] == list(values)


@given(st.dates(), st.sampled_from("./"), st.times())
def test_a_date_is_read_as_it_was_written(date, sign, time):
    text = f"{date.day:02}{sign}{date.month:02}{sign}{date.year:04} {time:%H:%M:%S}"
    order = date_order([text, f"31{sign}01{sign}2025"])

    assert moment(text, order) == f"{date.isoformat()}T{time:%H:%M:%S}"


def test_a_dotted_date_without_a_day_above_12_is_a_doubt(tmp_path: Path):
    drafted = draft_mapping(table(tmp_path, "started", "04.11.2025 10:00", "05.11.2025 10:00"))

    assert 'started_at = "started"' in drafted.text
    assert any("day.month.year" in doubt.why for doubt in drafted.doubts)


@pytest.mark.parametrize("line", [";;", " ; ;", "", ";\t;"])
def test_rows_of_empty_cells_are_skipped(tmp_path: Path, line: str):
    path = table(tmp_path, "cost", "1", "2")
    path.write_text(path.read_text(encoding="utf-8") + line + "\n" + line + "\n", encoding="utf-8")
    mapping = tmp_path / "m.toml"
    mapping.write_text(MAPPING, encoding="utf-8")

    items: list[Item] = list(MappedSource(load(mapping)).read(path))

    assert [item for item in items if isinstance(item, Unreadable)] == []
