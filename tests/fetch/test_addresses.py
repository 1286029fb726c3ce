"""What people paste: addresses of the visualizer in both forms, and ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.errors import FetchError
from errata.fetch.transport import DEPLOYMENTS, Target, belongs_to, deployment_address, is_private, target_of

RUN = "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2"
EVAL = "jh75912hmfp1gw3mc8190aexnr22mc2h"
HOST = "https://convex-evals.netlify.app"


@pytest.mark.req("C-02", "E-01")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        (RUN, Target(RUN)),
        (f"{HOST}/experiment/default/run/{RUN}", Target(RUN, deployment="prod")),
        (f"{HOST}/experiment/default/run/{RUN}/", Target(RUN, deployment="prod")),
        (f"{HOST}/experiment/no_guidelines/run/{RUN}?tab=steps#top", Target(RUN, deployment="prod")),
        (f"{HOST}/experiment/default/run/{RUN}/002-queries", Target(RUN, category="002-queries", deployment="prod")),
        (
            f"{HOST}/experiment/default/run/{RUN}/002-queries/{EVAL}?tab=output&file=convex%2Fa.ts",
            Target(RUN, EVAL, "002-queries", "prod"),
        ),
        (f"{HOST}/model/acme%2Fnimbus/experiment/default/run/{RUN}", Target(RUN, deployment="prod")),
        (
            f"{HOST}/model/{RUN}/experiment/default/run/{RUN}/002-queries/{EVAL}",
            Target(RUN, EVAL, "002-queries", "prod"),
        ),
        (f"http://127.0.0.1:3000/experiment/default/run/{RUN}", Target(RUN)),
    ],
)
def test_a_run_is_found_in_every_form_of_its_address(text, found):
    assert target_of(text) == found


@pytest.mark.req("C-02")
@pytest.mark.parametrize(
    "text", [f"{HOST}/experiment/default", "https://", "https://x/run/short", f"{HOST}/run/{RUN}/a/b/c", "nonsense"]
)
def test_what_names_no_run_is_refused_with_an_example(text):
    with pytest.raises(FetchError) as refused:
        target_of(text)

    assert refused.value.hint


@pytest.mark.req("A-01")
def test_production_and_development_are_known_by_name():
    assert deployment_address("prod") == DEPLOYMENTS["prod"] != deployment_address("dev") == DEPLOYMENTS["dev"]


@pytest.mark.parametrize(
    "named",
    ["staging", "http://example.convex.cloud", "https://10.0.0.1", "https://169.254.169.254", "https://user:pw@x.convex.cloud",
     "https://printer.local", "ftp://x", "file:///etc/passwd", "https://[::1", "https://intranet"],
)  # fmt: skip
def test_no_other_address_is_a_deployment(named):
    with pytest.raises(FetchError):
        deployment_address(named)


def test_loopback_is_only_for_who_names_it():
    assert deployment_address("http://127.0.0.1:4000") == "http://127.0.0.1:4000"
    assert is_private("127.0.0.1")


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/x.zip", "http://a.convex.cloud/x", "https://a.convex.cloud:444/x", "https://a.convex.cloud@evil.example/",
     "https://a.convex.cloud.evil.example/", "//a.convex.cloud/x", "file:///etc/passwd", ""],
)  # fmt: skip
def test_an_address_of_another_host_is_never_opened(address):
    assert not belongs_to(address, "https://a.convex.cloud")


@given(st.text(max_size=200))
def test_no_text_is_a_crash(text):
    try:
        found = target_of(text)
    except FetchError:
        return
    assert found.run
