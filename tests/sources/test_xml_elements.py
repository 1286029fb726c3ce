"""The first element of XML from strangers is found in one go, however much stands before it."""

import pytest

from errata.sources.shared.xml_elements import first_tag


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


def test_thousands_of_comments_are_no_labour():
    assert first_tag(b"<!---->" * 9_000) == ""
