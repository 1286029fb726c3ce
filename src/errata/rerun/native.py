"""What only one harness has, for the module that speaks to that harness.

`extra` is for no stage; this is the exception, and the only place of it: to be called again, a harness needs words
that no other one knows, such as the file of a task.
"""

from errata.model import Run


def told(run: Run, *names: str) -> object:
    """What the log says under a path of names; none where it says nothing."""
    found: object = run.extra
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def texts(found: object) -> list[str]:
    return [one for one in found if isinstance(one, str)] if isinstance(found, list | tuple) else []


def mapping(found: object) -> dict[str, object]:
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else {}
