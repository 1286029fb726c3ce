"""The manifest of the filing script, one line per issue: kind, key, file, marker. All batches share the script."""

from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from errata.render.files import key_slug
from errata.render.markdown import plain_title

SCRIPT = "file_issues.sh"
LABEL = "evaluation"
NEW_LINE = "\n"


class IssueFile(NamedTuple):
    """One issue: its key, and its file relative to the script."""

    key: str
    file: str


def script() -> str:
    return files("errata.issues").joinpath(SCRIPT).read_text(encoding="utf-8")


def manifest(batch: str, issues: Iterable[IssueFile], *, labels: Iterable[str] = (LABEL,)) -> str:
    """`batch` keeps the markers of batches apart. No field is empty: a shell reads two tabs as one."""
    lines = [f"label\t{key_slug(label)}\t-\t-" for label in labels]
    lines += [f"epic\tepic\tissues/epic.md\t{marker(batch, 'epic')}"]
    lines += [f"issue\t{one.key}\t{one.file}\t{marker(batch, one.key)}" for one in issues]
    lines += [
        f"links\tlinks\t-\t{marker(batch, 'links')}",
        f"analysis\tanalysis\tcomments/analysis.md\t{marker(batch, 'analysis')}",
    ]
    return "".join(f"{line}\n" for line in lines)


def marker(batch: str, key: str) -> str:
    """Hidden at the end of a body, so that an interrupted script finds the issues it has filed."""
    return f"errata:{key_slug(batch)}:{key}"


def issue_text(title: str, text: str, batch: str, key: str) -> str:
    """The page of an issue for the script: a plain title, and the hidden marker at the end."""
    return _with_marker(_with_plain_title(title, text), marker(batch, key))


def _with_plain_title(title: str, text: str) -> str:
    """The script uses the first line unchanged as the title, which is not markdown."""
    return f"# {plain_title(title)}\n{text.partition(NEW_LINE)[2]}"


def _with_marker(text: str, marker: str) -> str:
    return f"{text.rstrip()}\n\n<!-- {marker} -->\n"
