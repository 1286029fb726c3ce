"""A batch → the files of its folder: pages, issues, manifest and the script. Nothing is filed by errata itself."""

from collections.abc import Collection
from pathlib import Path

from errata.issues.manifest import SCRIPT, Filed, manifest, marker, script
from errata.model.output.report.batch import BatchReport
from errata.render.markdown import to_markdown
from errata.render.markdown_text import plain_title
from errata.report.batch_document import batch_documents
from errata.report.batch_issue_pages import with_marker

EXECUTABLE = frozenset((SCRIPT,))
PARTS = ("failures", "issues")
NEW_LINE = "\n"


def _plain_title(title: str, text: str) -> str:
    """The script takes the first line as it is for the title, which is no markdown."""
    return f"# {plain_title(title)}\n{text.partition(NEW_LINE)[2]}"


def left_over(folder: Path, files: Collection[str]) -> list[str]:
    """Pages and issues of an earlier report that this one does not have: nothing is deleted, but it is told."""
    there = [path for part in PARTS for path in sorted((folder / part).glob("*.md"))]
    names = (path.relative_to(folder).as_posix() for path in there)
    return [name for name in names if name not in files]


def batch_files(report: BatchReport) -> dict[str, str]:
    """Path → content, in the order in which they are written: what the script reads is there before the script."""
    files = {}
    for path, document in batch_documents(report).items():
        text = to_markdown(document)
        if path.startswith("issues/"):
            key = path.removeprefix("issues/").removesuffix(".md")
            text = with_marker(_plain_title(document.title, text), marker(report.run_id, key))
        files[path] = text
    issues = [Filed(one.key, f"issues/{one.key}.md") for one in report.tests]
    files["issues/manifest.tsv"] = manifest(report.run_id, issues)
    files[SCRIPT] = script()
    return files
