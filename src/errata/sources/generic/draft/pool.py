"""The columns of a table that no key of the draft names yet."""

from collections.abc import Callable, Iterable

from errata.sources.generic.draft.names import rank
from errata.sources.generic.draft.profiles import ColumnProfile
from errata.sources.generic.draft.record import DraftedMapping

Test = Callable[[ColumnProfile], bool]


class ColumnPool:
    def __init__(self, profiles: dict[str, ColumnProfile], rows: int, draft: DraftedMapping) -> None:
        self.profiles = profiles
        self.rows = rows
        self.draft = draft
        self._taken: set[str] = set()

    def free(self) -> list[ColumnProfile]:
        """What is left of the rows' own columns, without parts of a column that is taken as a whole."""
        return [profile for profile in self._unused() if profile.path[:1] not in ("^", "$", "@")]

    def _unused(self) -> list[ColumnProfile]:
        stems = tuple(f"{path}." for path in self._taken)
        return [
            profile
            for path, profile in self.profiles.items()
            if path not in self._taken
            and (profile.filled or (rank("error", path) == 0 and profile.values))
            and not path.startswith(stems)
        ]

    def take(self, path: str) -> None:
        self._taken.add(path)

    def candidates(self, role: str, test: Test, among: Iterable[ColumnProfile] | None = None) -> list[ColumnProfile]:
        """The free columns with a name for a field and fitting values, the most telling name first."""
        ranked = [
            (place, profile.path.count(".") + profile.path.count("^"), at, profile)
            for at, profile in enumerate(self._unused() if among is None else among)
            if (place := rank(role, profile.path)) is not None and test(profile)
        ]
        return [profile for *_, profile in sorted(ranked, key=lambda one: one[:3])]

    def assign(self, section: str, key: str, role: str, test: Test) -> ColumnProfile | None:
        """Give a key the best column, and note a doubt if another is as good by name and by values."""
        ranked_columns = self.candidates(role, test)
        if not ranked_columns:
            return None
        best, *others = ranked_columns
        self.put(section, key, best)
        equals = [other.path for other in others if rank(role, other.path) == rank(role, best.path)]
        if equals:
            self.draft.doubt(section, key, "another column has such a name", [f"`{path}`" for path in equals[:4]])
        return best

    def put(self, section: str, key: str, profile: ColumnProfile, **more: object) -> None:
        """In `[run]` and at the top a plain text would be a constant."""
        self.take(profile.path)
        value: object = profile.path
        if section in ("", "run", "run.variant") or more:
            value = {"column": profile.path, **more}
        self.draft.put(section, key, value)
