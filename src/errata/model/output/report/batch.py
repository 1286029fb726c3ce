"""All that the folder about one batch says: its tests, sessions, costs, failures and what to do."""

import msgspec

from errata.model.output.report.shared import Piece, ReviewCoverage, ScoreLine


class Test(msgspec.Struct, frozen=True, kw_only=True):
    """One test as it is counted now."""

    __test__ = False  # not a test of ours

    key: str
    """What its files are called; its id, where that can be a file name."""
    id: str
    name: str
    status: str
    """In capitals, as the harness says it."""
    passed: bool
    part: str = ""
    """`2 of 3 subtests`, where it passed with less than the whole score."""
    tier: str = ""
    score: float | None = None
    cost_of_pass: float | None = None
    nothing_passed: bool = False
    """Its cost of pass is infinite: money was spent, and no run of it passed."""
    cost: float | None = None
    seconds: float | None = None
    exit_code: int | None = None
    owner: str = ""
    """Of its failure; empty where it passed."""
    earlier: str = ""
    """What an earlier session had found, where the latest one hides it."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    when: str
    tried: int
    passed: int
    failed: int
    not_measured: int
    cost: float | None
    exit_codes: str
    pattern: str


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to a test in one session."""

    session: int
    when: str
    result: str
    place: str


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    cause: str
    before: str = ""
    after: str = ""
    path: str = ""
    by: str = ""
    """Who says so: a rule, or a reviewer."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    test: Test
    category: str
    """The letter of its category."""
    owner: str
    confidence: str
    reviewed: bool = False
    cause: str = ""
    error: str = ""
    """Exactly as the log has it, with its traceback."""
    place: str = ""
    hits: str = ""
    """`6 of 6 subtests`, where the error struck several parts of the test."""
    fix: Fix | None = None
    needed: str = ""
    """What has to be done for this test."""
    evidence: tuple[Piece, ...] = ()
    timeline: tuple[Moment, ...] = ()
    stored: str = ""
    """What lies on disk of its runs."""
    task: str = ""
    rubric: str = ""
    """What was required, as the test's own files say it."""
    criteria: tuple[str, ...] = ()
    """How often each was met."""
    judges: tuple[str, ...] = ()
    """What judges said, where they said anything."""
    follows: str = ""


class Category(msgspec.Struct, frozen=True, kw_only=True):
    letter: str
    title: str
    owner: str
    confidence: str
    tests: tuple[str, ...]
    cost: float | None
    evidence: str
    advice: str
    shows: tuple[str, ...] = ()
    """What its tests have in common: subtests, costs, durations."""
    error: str = ""
    """The exact error, where all of them have the same."""
    framework: bool = True
    provisional: bool = True


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Costs or durations of a group of tests."""

    group: str
    tests: int
    total: float | None = None
    mean: float | None = None
    pass_mean: float | None = None
    pass_median: float | None = None
    """Of the cost of pass."""
    least: float | None = None
    median: float | None = None
    most: float | None = None


class BatchReport(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    run_id: str
    handle: str
    """By which commands know the run."""
    date: str
    model: str
    made: str
    answer: str
    warning: str
    """What must not be done with the numbers, where something must not."""
    reading: ReviewCoverage
    scores: tuple[ScoreLine, ...]
    config: tuple[tuple[str, str], ...]
    tests: tuple[Test, ...]
    """Sorted by id."""
    cost: float | None
    cost_of_passes: float | None
    cost_of_failures: float | None
    unknown_costs: int
    mean_cost_of_pass: float | None
    median_cost_of_pass: float | None
    priced_passes: int
    sessions: tuple[Session, ...]
    hidden_passes: tuple[str, ...] = ()
    hidden_passes_cost: float | None = None
    hidden_fails: tuple[str, ...] = ()
    never_measured: tuple[str, ...] = ()
    costs: tuple[Spread, ...] = ()
    durations: tuple[Spread, ...] = ()
    categories: tuple[Category, ...] = ()
    failures: tuple[Failure, ...] = ()
    advice: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def same_as(self, failure: Failure, most: int) -> tuple[int, list[str]]:
        """How many other tests of the framework's category it is in there are, and the first of them."""
        category = next((one for one in self.categories if one.letter == failure.category and one.framework), None)
        tests = category.tests if category is not None else ()
        return max(0, len(tests) - 1), [one for one in tests[: most + 1] if one != failure.test.id][:most]

    @property
    def passed(self) -> int:
        return sum(one.passed for one in self.tests)

    @property
    def failed(self) -> int:
        return len(self.tests) - self.passed
