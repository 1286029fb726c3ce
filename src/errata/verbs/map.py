"""`map`: draft a mapping for your own table."""

from pathlib import Path

from msgspec.structs import replace

from errata.errors import SettingsError
from errata.model.output.mapping import MapOutput
from errata.sources.generic.draft import draft_mapping, target_of

__all__ = ["map_table"]


def map_table(path: Path, *, output: Path | None = None, force: bool = False, dry_run: bool = False) -> MapOutput:
    """Draft a mapping and write it beside the table, or to `output`. An existing file is only replaced with `force`."""
    target = output or target_of(path)
    if target.exists() and not force and not dry_run:
        raise SettingsError(
            f"`{target}` already exists",
            hint="`--force` replaces it · `--dry-run` only shows the draft · `--output` writes it elsewhere",
        )
    drafted = replace(draft_mapping(path), target=str(target), written=not dry_run)
    if not dry_run:
        try:
            target.write_text(drafted.text, encoding="utf-8")
        except OSError as error:
            raise SettingsError(
                f"`{target}` can't be written: {error.strerror}",
                hint="write it elsewhere with `--output FILE`, and import with `--map FILE`",
            ) from error
    return drafted
