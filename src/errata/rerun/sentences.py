"""The sentences of a rerun plan: what its enum words mean, for people.

They are here and not on the command's page because they use the terms of each harness.
"""

from errata.model.output.act import AlsoWhy, FillIn, RerunNoteName, WhyNoCommand
from errata.rerun.fit import LONGEST_NAME
from errata.rerun.plan import ByHand, PlanNote
from errata.text.clean import one_line

WIDTH = 80

_WHY_NOT: dict[WhyNoCommand, str] = {
    "command_like_secret": "the command looks as if it contains a secret",
    "continuous_conversation": (
        "one continuous conversation: a turn can't be repeated without the turns before it; "
        "`--rehydrate --only-turns` replaces those with reference answers, which is a different measurement"
    ),
    "export_without_folder": "an exported table does not contain the experiment's folder: import the folder instead",
    "field_like_option": "the {about} starts with a dash, like an option",
    "field_like_secret": "the {about} looks like a secret",
    "field_missing": "the log does not contain the {about}",
    "field_too_long": f"the {{about}} is longer than {LONGEST_NAME} characters",
    "field_unsafe": "the {about} contains characters that are not safe in a command",
    "folder_name": "the harness expects a folder whose name ends in `-{about}`",
    "no_dataset": "the tasks belong to no dataset: pass their folder to `harbor run --path`",
    "no_description": "the test has no description to select it by",
    "no_planner": "errata knows no command that repeats a case of a `{about}` log",
    "no_subtest": "the case does not name a test, tier and subtest",
    "path_like_secret": "the {about} path looks like a secret",
    "path_unsafe": "the {about} path contains characters that are not safe in a command",
    "task_in_script": "the task was created in a script: it has neither a file nor a registered name",
}

_NOTES: dict[RerunNoteName, str] = {
    "agent_settings_left_out": "agent settings that the command leaves out: {values}",
    "every_prompt": "the prompt has no plain name to filter by: the tests run with every prompt",
    "judge_only": "`judge` scores the recorded turns; the model is not called again",
    "keys_from_env_file": "keys come from `.env`; if `CONVEX_EVAL_URL` is set, this creates a new run of these evals",
    "latest_dataset": "the log does not contain the dataset version: Harbor uses the latest",
    "new_results_folder": "results go to a new folder: in the old one, the runner skips every test that has a result",
    "new_run": "this creates a new run of these turns only; judge it like the first",
    "options_not_in_log": "`--runs`, `--tiers` and `--max-subtests` are not in the log: add the original values",
    "other_model_in_logs": "the thread logs name a different model than the summary: {values}",
    "regrade": (
        "this runs the agent again, too. `harbor jobs regrade` grades the existing output, but of every trial, "
        "and only if the verifier has an environment of its own"
    ),
    "resumes_in_place": "the runner resumes each test where it stopped and keeps finished work",
    "retry_uses_log_settings": "`eval-retry` takes the task ({values}), the model and all settings from the log",
    "run_in_checkout": "run this in a checkout of {values}",
    "run_in_config_folder": "run this in the folder of the configuration, or add `--config`",
    "run_where_stored": "run this where promptfoo stores the evaluation; elsewhere, `promptfoo import` it first",
    "service_not_in_log": "add `--service` if the model needs one: it is not in the log",
    "settings_left_out": (
        "the command leaves out settings that are not numbers (solver, sandbox, model roles …): "
        "`inspect log export-config` writes all of them, and `inspect eval --run-config` reads them"
    ),
}

ALSO_WHY: dict[AlsoWhy, str] = {
    "all_errors": "promptfoo retries every result of the evaluation that is an error",
    "all_errors_and_missing": "`eval-retry` repeats every sample of the log that failed with an error or is missing",
    "cancelled_trials": "Harbor deletes the folders of cancelled trials and runs them again",
}

FILL_IN: dict[FillIn, str] = {
    "dataset_not_in_log": "the log names no dataset, only a folder on the machine that wrote it",
    "model_not_in_log": "the log does not name the model, and the harness would use its default",
}


def why_by_hand(by_hand: ByHand) -> str:
    return why_no_command(by_hand.why_not, by_hand.about)


def why_no_command(why_not: WhyNoCommand, about: str) -> str:
    return _WHY_NOT[why_not].format(about=about)


def note_text(note: PlanNote) -> str:
    return _NOTES[note.name].format(values=one_line(", ".join(note.values), WIDTH))
