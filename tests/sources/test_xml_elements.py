"""The first element of XML from strangers is found in one go, however much stands before it."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.sources.shared.xml_elements import Element, first_tag, xml_events


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b'<?xml version="1.0"?>\n',
        b"<!-- <other> -->" * 50,
        b'<!DOCTYPE a SYSTEM "a.dtd">',
        b'<!DOCTYPE a [<!ENTITY b "<c>">]>\n<?style?>',
    ],
)
def test_what_stands_before_the_first_element_is_passed_over(before):
    assert first_tag(before + b"<x:testsuite name='a'>") == "testsuite"


@pytest.mark.parametrize("head", [b"", b"text <a>", b"<!-- open <a>", b"<?xml", b"<", b"<!DOCTYPE a [", b"\xff\xfe<"])
def test_what_is_no_xml_has_no_first_element(head):
    assert first_tag(head) == ""


def as_values(events: list[Any]) -> list[Any]:
    return [_values(event) if isinstance(event, Element) else event for event in events]


def _values(element: Element) -> tuple[Any, ...]:
    return element.tag, element.attributes, element.line, element.text, tuple(map(_values, element.children))


PIECES = [b"<?xml version='1.0' encoding='utf-8'?>", b"<?xml version='1.0' encoding='latin-1'?>", b"\xef\xbb\xbf",
          b"<?xml version='1.0' encoding='x-none'?>", b"<suite name='s'>", b"</suite>", b"<case name='a'>", b"</case>",
          b"text\n", b"\xff", b"\xc3\xa9", b"\x1b[31mred", b"\x00", b"&#x1b;", b"&amp;", b"&", b"&#", b"<", b"<case",
          b"<!DOCTYPE a>", b"<!-- -->", b"<![CDATA[x]]>"]  # fmt: skip


@example(data=b"\x00<?xml version='1.0' encoding='x-none'?>")
@given(data=st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_what_was_read_before_gives_the_same_events(tmp_path_factory, data: bytes):
    path = tmp_path_factory.mktemp("xml") / "report.xml"
    path.write_bytes(data)
    options: dict[str, Any] = {"source": "junit", "root": path.parent}

    whole = list(xml_events(path, frozenset(("case",)), data=data, **options))
    read = list(xml_events(path, frozenset(("case",)), **options))

    assert as_values(whole) == as_values(read)
