"""What earlier reports and runs say of a case that fails now, and whether it should be gone."""

from errata.report.facts.run import Repeat
from errata.report.washing import short_line
from errata.runs.history import Remembered

DONE = 160
MODELS = 5


def repeat_of(case: str, remembered: Remembered) -> Repeat:
    before = remembered.before(case)
    said = [f"{one.label or 'named'} on {one.date}" for one in reversed(before.reports)]
    seen = {one.run for one in before.reports}
    runs = [one for one in before.runs if one.run not in seen]
    said += [f"failed on {one.at[:10]}" for one in reversed(runs)]
    action = ""
    if before.due:
        done = before.due[0].action
        what = f"{done.path} " if done.path else ""
        action = (
            f"The action of {done.date[:10]} ({what}{short_line(done.what, DONE)}) came before this run and should "
            "have resolved it. It did not."
        )
    models = sorted(({one.model for one in before.others} | {one.model for one in before.other_runs}) - {""})
    return Repeat(
        reports=len(before.reports),
        runs=len(runs),
        said=tuple(said),
        action=action,
        should_be_gone=before.should_be_gone,
        others=f"Other models fail it too: {', '.join(models[:MODELS])}." if models else "",
    )
