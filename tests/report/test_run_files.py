"""Where a report about a run is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model.output.report.run import RunReport, RunSubject
from errata.model.output.report.shared import ReviewCoverage
from errata.report.run_files import report_path, write_run_report
from errata.runs.names import variant_of
from errata.testing import a_run


@pytest.mark.req("C-22")
@pytest.mark.parametrize(
    ("model", "provider", "path"),
    [
        ("acme/nimbus-2-coder", "openrouter", "acme/nimbus-2-coder/jn7mqywb_2026-03-10.md"),
        ("nimbus-2-coder", "openrouter", "openrouter/nimbus-2-coder/jn7mqywb_2026-03-10.md"),
        ("nimbus-2-coder", "", "unknown/nimbus-2-coder/jn7mqywb_2026-03-10.md"),
        ("", "", "unknown/unknown/jn7mqywb_2026-03-10.md"),
        ("a/b/c:free", "x", "a/b-c-free/jn7mqywb_2026-03-10.md"),
        ("../../etc", "x", "unknown/etc/jn7mqywb_2026-03-10.md"),
    ],
)
def test_the_provider_is_of_the_models_name_else_of_the_run_else_unknown(model, provider, path):
    assert report_path(model, provider, "jn7mqywbwe952an46zjcswtz9r7by5p7", "2026-03-10") == path


@pytest.mark.req("C-22")
@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_whatever_the_names_hold_there_are_two_folders_and_a_file(model, provider, run):
    parts = report_path(model, provider, run, "2026-03-10").split("/")

    assert len(parts) == 3
    assert all(part and not part.startswith((".", "-")) and part.isascii() for part in parts)


@pytest.mark.req("C-22", "B-57")
@pytest.mark.trap(21)
@pytest.mark.parametrize(
    ("there", "path"),
    [
        ("google/gemini-3-1-pro-preview", "google/gemini-3-1-pro-preview"),
        ("Google/Gemini_3.1_Pro-preview", "Google/Gemini_3.1_Pro-preview"),
        ("google/gemini-3.1-pro", "google/gemini-3.1-pro-preview"),
        ("openai/gemini-3-1-pro-preview", "google/gemini-3.1-pro-preview"),
    ],
    ids=["hyphens", "capitals", "another model", "another provider"],
)
def test_the_folder_of_a_model_is_used_however_it_is_spelt(tmp_path, there, path):
    (tmp_path / there).mkdir(parents=True)

    made = report_path("google/gemini-3.1-pro-preview", "", "jn7mqywbwe952an4", "2026-03-10", folder=tmp_path)

    assert made == f"{path}/jn7mqywb_2026-03-10.md"


def _written(report, folder, day="2026-03-10"):
    return write_run_report(report, day=day, folder=folder, html=True, find_earlier=lambda: None).written


@pytest.mark.req("C-22")
@given(
    ids=st.lists(st.text(alphabet="ab-:@", min_size=1, max_size=100), min_size=2, max_size=5),
    prompts=st.lists(st.sampled_from(["terse", "verbose", "long"]), min_size=2, max_size=5),
)
def test_no_run_overwrites_the_report_of_another_and_each_finds_its_own_again(tmp_path_factory, ids, prompts):
    folder = tmp_path_factory.mktemp("reports")
    runs = {run.id: run for run in (a_run(native_id=one, variant={"prompt": how}) for one in ids for how in prompts)}
    reports = [_a_report(run) for run in runs.values()]

    first = [[file.path for file in _written(report, folder)] for report in reports]
    again = [[file.path for file in _written(report, folder)] for report in reports]

    paths = [path for paths in first for path in paths]
    assert len(set(paths)) == len(paths) == 2 * len(reports)
    assert again == first
    for report, (markdown, page) in zip(reports, first, strict=True):
        variant = report.subject.variant[0]
        assert f"**Variant**: {variant}" in markdown.read_text()
        assert variant in page.read_text()


@pytest.mark.req("C-22")
def test_runs_that_share_an_id_are_told_apart_by_their_variant(tmp_path):
    reports = {
        how: _a_report(a_run(native_id="eval-S6Y-2026-11-15T19:18:48", variant={"prompt": how}))
        for how in ("terse", "verbose")
    }

    names = [_named(report, tmp_path, called=how) for how, report in reports.items()]

    assert names == ["eval-S6Y-terse_2026-03-10.md", "eval-S6Y-verbose_2026-03-10.md"]


def test_a_run_keeps_its_file_when_another_with_its_id_comes(tmp_path):
    report = _a_report(a_run(native_id="eval-S6Y-2026-11-15T19:18:48", variant={"prompt": "terse"}))

    alone = _named(report, tmp_path)

    assert (alone, _named(report, tmp_path, called="terse")) == ("eval-S6Y_2026-03-10.md", alone)


def _named(report, folder, **words):
    made = write_run_report(report, day="2026-03-10", folder=folder, find_earlier=lambda: None, **words)
    return made.written[0].path.name


def _a_report(run):
    subject = RunSubject(
        native_id=run.native_id,
        run_id=run.id,
        source="promptfoo",
        model="echo",
        variant=tuple(variant_of(run)),
        total=2,
        missing=("a",),
    )
    return RunReport(
        subject=subject,
        made="2026-03-10",
        reading=ReviewCoverage(failures=0, read=0, final=0),
        scores=(),
    )
