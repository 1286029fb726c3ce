"""Three hundred tasks from a seed: most of them fair, some too hard for every subject, some broken in a known way."""

import random
from typing import Literal, NamedTuple

Fault = Literal[
    "",
    "hard",
    "wrong_gold",
    "contradiction",
    "unnamed_file",
    "unnamed_function",
    "tests_cannot_run",
    "reference_fails",
    "one_strict_test",
    "other_tasks_tests",
]
BROKEN: tuple[Fault, ...] = (
    "wrong_gold",
    "contradiction",
    "unnamed_file",
    "unnamed_function",
    "tests_cannot_run",
    "reference_fails",
    "one_strict_test",
    "other_tasks_tests",
)
QUESTIONS, PROGRAMS = 180, 120
FAULTS_OF_QUESTIONS: dict[Fault, int] = {"wrong_gold": 14, "contradiction": 10, "hard": 20}
FAULTS_OF_PROGRAMS: dict[Fault, int] = {
    "unnamed_file": 8,
    "unnamed_function": 6,
    "tests_cannot_run": 12,
    "reference_fails": 8,
    "one_strict_test": 6,
    "other_tasks_tests": 4,
    "hard": 16,
}
TOPICS = ("ports", "tides", "freight", "tickets", "maps")
LEGACY = "legacy"
"""A category that most of the faults of programs are in."""


class Task(NamedTuple):
    name: str
    category: str
    is_program: bool
    fault: Fault
    form: int
    """Which form of the fault it is."""
    difficulty: float
    text: str
    answer: str
    """The right answer to a question."""
    gold: str
    """What the grader takes for right."""
    choices: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        return self.fault in BROKEN


def make_tasks(seed: int) -> list[Task]:
    chance = random.Random(seed)
    questions = [
        _question(number, fault, form, chance) for number, fault, form in _plan(QUESTIONS, FAULTS_OF_QUESTIONS)
    ]
    programs = [_program(number, fault, form, chance) for number, fault, form in _plan(PROGRAMS, FAULTS_OF_PROGRAMS)]
    return [*questions, *programs]


def _plan(count: int, faults: dict[Fault, int]) -> list[tuple[int, Fault, int]]:
    planned: list[tuple[Fault, int]] = [(fault, form) for fault, often in faults.items() for form in range(often)]
    planned += [("", 0)] * (count - len(planned))
    # spread over the suite, so that neither numbers nor topics give a fault away
    order = sorted(range(count), key=lambda at: at * 7919 % count)
    return [(number, *planned[at]) for number, at in zip(range(count), order, strict=True)]


def _difficulty(fault: Fault, chance: random.Random) -> float:
    return 9.0 if fault == "hard" else chance.gauss(0.0, 1.2)


def _question(number: int, fault: Fault, form: int, chance: random.Random) -> Task:
    first, other = chance.randrange(120, 990), chance.randrange(12, 98)
    port, days = chance.choice(("Odden", "Vik", "Marstal", "Hals")), chance.randrange(3, 9)
    right = str(first * days - other)
    text = (
        f"The ferry from {port} carries {first} passengers a day. In {days} days {other} of them travel twice. "
        "How many different passengers are there?"
    )
    name, gold, choices = f"passengers-{number:03}", right, ()
    if fault == "wrong_gold":
        gold = (str(first * days + other), str(int(right) + 100), str(first * days))[form % 3]
    elif fault == "contradiction":
        name, text, right, gold, choices = _contradiction(number, form, first, other)
    return Task(
        name, TOPICS[number % len(TOPICS)], False, fault, form, _difficulty(fault, chance), text, right, gold, choices
    )


def _contradiction(number: int, form: int, first: int, other: int) -> tuple[str, str, str, str, tuple[str, ...]]:
    """Name, text, right answer, gold, choices. The last two forms can only be seen by reading."""
    right = str(first + other)
    offered = (str(first + other + 1), str(first - other), str(first + 10))
    match form % 4:
        case 0:
            return f"sum-{number:03}", f"How many berths are {first} and {other} berths?", right, right, offered
        case 1:
            named = f"{first} + {other} ({number:03})"
            return named, f"What is {first} + {other + 2}?", str(first + other + 2), right, ()
        case 2:
            text = f"A pilot boat makes {first} miles and then {other} miles. How many kilometres is that, as a number?"
            return f"pilot-{number:03}", text, str(round((first + other) * 1.852)), right, ()
        case _:
            text = f"Ship A has {first} berths, ship B {other}. How many more berths has B than A has?"
            return f"berths-{number:03}", text, str(other - first), str(first - other), ()


_PROGRAM_TASKS = (
    "Read /app/{thing}.csv and write the total weight of each harbour to /app/{thing}-totals.json.",
    "Write a script /app/{thing}.py that prints the departures of a day, one a line, sorted by time.",
    "Repair the service in /app/{thing} so that its page lists all berths, and write its log to /app/{thing}.log.",
    "Convert /app/{thing}.xml to /app/{thing}.sqlite with one table for each kind of vessel.",
)


def _program(number: int, fault: Fault, form: int, chance: random.Random) -> Task:
    thing = f"{chance.choice(('manifest', 'schedule', 'berths', 'cargo', 'fares'))}{number:03}"
    broken = fault in BROKEN
    category = LEGACY if broken and form % 4 != 3 else TOPICS[number % len(TOPICS)]
    if not broken and number % 9 == 0:
        category = LEGACY
    text = _PROGRAM_TASKS[number % len(_PROGRAM_TASKS)].format(thing=thing)
    return Task(f"{thing}-job", category, True, fault, form, _difficulty(fault, chance), text, "", "")
