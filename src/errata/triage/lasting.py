"""Whether a failure that is not the subject's comes again on a rerun unless somebody repairs something first.

A missing program, a full disk or a rejected key stays until it is repaired. A timeout, a reset connection or a server
error of a provider may be gone the next time.
"""

import re

from errata.text.lazy_regex import lazy_regex

_RULES = frozenset(
    (
        *("missing_tool", "package_missing", "disk_full", "out_of_memory", "system_limit"),
        *("provider_model_missing", "provider_endpoint_missing", "provider_auth", "provider_quota"),
    )
)
"""Rules whose words name a fault that stays."""
_ABSENT = (
    r"command not found|: not found\s*$|\bENOENT\b|[Nn]o module named|ModuleNotFoundError"
    r"|cannot open shared object file|[Bb]ad interpreter|[Ee]xec format error|externally-managed-environment"
    r"|Could not find a version that satisfies|No solution found when resolving|Executable doesn't exist"
    r"|No such file or directory|file or directory not found|can't open file"
)
_FORBIDDEN = r"(?i:no space left on device)|ENOSPC|[Pp]ermission denied|EACCES|EPERM|[Rr]ead-only file system"
_REJECTED = (
    r"\b401\b|\b403\b|(?i:unauthori[sz]ed|invalid api[_ ]key|credit balance|insufficient (?:credits|balance|quota))"
    r"|model_not_found|(?i:no endpoints found)"
)
_TEXT = lazy_regex(f"{_ABSENT}|{_FORBIDDEN}|{_REJECTED}", re.MULTILINE)


def is_lasting(decided_by: str, reason: str) -> bool:
    """By the rule that decided, else by the words of the log that it goes by."""
    return decided_by in _RULES or _TEXT.search(reason) is not None
