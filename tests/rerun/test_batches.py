"""Many cases as few commands."""

from wishes import failed

from errata.rerun.plan import LONGEST, Command, PlanNote, batch_commands, shaped


def a_plan(attempts):
    def build(names, often):
        return Command(argv=("harness", f"--times={often}", *(f"--only={name}" for name in names)))

    return batch_commands(attempts, lambda case: shaped(case, "case"), build, [PlanNote("every_prompt")])


def test_all_cases_share_a_command():
    plan = a_plan([failed("one"), failed("two")])

    assert [command.argv for command in plan.commands] == [("harness", "--times=1", "--only=one", "--only=two")]


def test_a_case_with_two_attempts_is_asked_for_twice():
    plan = a_plan([failed("one"), failed("two"), failed("two", index=2)])

    assert [command.argv for command in plan.commands] == [
        ("harness", "--times=1", "--only=one"),
        ("harness", "--times=2", "--only=two"),
    ]


def test_a_case_that_is_not_fit_is_left_to_the_user_with_the_reason():
    plan = a_plan([failed("one"), failed("two; reboot")])

    assert plan.commands[0].cases == ["one"]
    assert [(one.attempt.case, one.why_not, one.about) for one in plan.by_hand] == [
        ("two; reboot", "field_unsafe", "case")
    ]


def test_a_name_that_looks_like_a_secret_is_left_to_the_user():
    plan = a_plan([failed("one"), failed("ghp_" + "a" * 30)])

    assert plan.commands[0].cases == ["one"]
    assert (plan.by_hand[0].why_not, plan.by_hand[0].about) == ("field_like_secret", "case name")


def test_no_command_is_longer_than_a_system_takes():
    plan = a_plan([failed(f"case-{number:05}") for number in range(20_000)])

    assert len(plan.commands) > 1
    assert all(len(command.line.encode()) <= LONGEST for command in plan.commands)
    assert sum(len(command.attempts) for command in plan.commands) == 20_000


def test_commands_are_not_cut_shorter_than_needed():
    plan = a_plan([failed(f"case-{number:05}") for number in range(20_000)])

    assert len(plan.commands[0].line) > 0.9 * LONGEST


def test_notes_are_for_commands_only():
    assert a_plan([failed("one")]).notes == (PlanNote("every_prompt"),)
    assert a_plan([failed("-one")]).notes == ()
