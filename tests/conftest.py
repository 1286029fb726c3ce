"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest
from tests.sabotage import sabotage

FIXTURES = Path(__file__).parent / "fixtures"

if target := os.environ.get("ERRATA_SABOTAGE"):
    sabotage(target)


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES
