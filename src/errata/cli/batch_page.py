"""What `errata report` and `errata issues` print about a batch."""

from errata.cli.output import money, plural, put, put_command
from errata.cli.render.fields import place_of
from errata.cli.table import put_parts
from errata.render.proof import coverage_state
from errata.report.batch_prose import batch_answer, batch_warning, category_title
from errata.report.score_doubts import doubt_words, doubts_of_batch
from errata.verbs.report import BatchWritten


def show_batch(made: BatchWritten, *, in_results: bool) -> None:
    """`in_results`: the folder is that of the results, which the user has not named."""
    report = made.report
    put(f"{report.name} · {report.model or 'unknown model'} · {report.passed}/{len(report.tests)} passed")
    if report.reading.failures:
        put(coverage_state(report.reading), hang=4)
    put()
    for warning in filter(None, (doubt_words(doubts_of_batch(report)), batch_warning(report))):
        put(warning, hang=2)
    put(batch_answer(report))
    for category in report.categories:
        put_parts(
            category.letter,
            [f"{len(category.tests)}× {category_title(category)}", category.owner],
            f"cost {money(category.cost, 2)}",
        )
    put_parts("cost", [f"{money(report.cost, 2)} total", f"{money(report.cost_of_passes, 2)} on passes"])
    if report.mean_cost_of_pass is not None:
        mean, middle = money(report.mean_cost_of_pass, 2), money(report.median_cost_of_pass, 2)
        priced = plural(report.priced_passes, "pass", "passes")
        put_parts("", [f"cost of pass at the cheapest tier: mean {mean}, median {middle} of {priced}"])
    put()
    _show_folder(made, in_results=in_results)


def _show_folder(made: BatchWritten, *, in_results: bool) -> None:
    report, place = made.report, place_of(str(made.folder.absolute()))
    failed = len(report.tests) - report.passed
    put_parts("issues", [f"1 for each test: {failed:,} failed, {report.passed:,} passed", "1 epic"])
    new = sum(one.change != "unchanged" for one in made.written)
    put_parts("wrote", [place, f"{len(made.written)} files, {new} new or changed"])
    if in_results:
        put_parts("", ["this is the folder of the results; `-o DIR` writes elsewhere"])
    put_command("next", [f"{place}/file_issues.sh", "--dry-run"], "shows what would be filed")
    put("Nothing was filed, and no other file was changed.")
