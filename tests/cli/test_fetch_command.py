"""From the address of a run to its report in one command, against a small real deployment on loopback."""

import json
import sys
from pathlib import Path

import pytest

from errata.fetch import transport
from errata.fetch.transport import DEPLOYMENTS
from terminal import done, errata

sys.path.insert(0, str(Path(__file__).parent.parent / "fetch"))
from deployment import ADMIN_KEY, Deployment

RUN_A = "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2"
RUN_D = "jn7maewn2m8p9nby37ge1ak5tzbmr6z9"
EVAL = "jh75912hmfp1gw3mc8190aexnr22mc2h"


@pytest.fixture(scope="module")
def deployment():
    with Deployment("run_a", "run_d") as running:
        yield running


def visualizer(deployment, run, rest=""):
    return f"{deployment.address}/experiment/default/run/{run}{rest}"


@pytest.mark.req("C-02", "C-06", "C-22")
def test_from_an_address_to_a_report_in_one_command(deployment, at_home):
    result = done("analyze", visualizer(deployment, RUN_A), "--deployment", deployment.address)

    (report,) = (at_home / "reports").rglob("*.md")
    assert report.relative_to(at_home).as_posix() in result.out
    assert report.relative_to(at_home / "reports").as_posix().startswith("acme/nimbus-2-coder/jn709tmj_")
    assert "Run jn709tmj · acme/nimbus-2-coder" in result.out


@pytest.mark.req("C-09", "C-11")
def test_what_was_fetched_is_as_good_as_what_was_saved(deployment):
    done("import", RUN_A, "--deployment", deployment.address)
    shown = done("show", "jn709tmj/002-queries/004-range_condition", "--json").row

    assert {one["role"] for one in shown["attempt"]["artefacts"]} >= {"output", "log"}
    assert {one["role"] for one in shown["case"]["artefacts"]} >= {"grader", "expected"}


@pytest.mark.req("C-07")
def test_where_all_passed_no_report_is_written(deployment, at_home):
    result = done("analyze", RUN_D, "--deployment", deployment.address)

    assert "25 of 25 passed" in result.out
    assert not (at_home / "reports").exists()


@pytest.mark.req("E-01", "C-02")
def test_a_single_eval_is_fetched_by_its_address(deployment):
    result = done(
        "fetch",
        visualizer(deployment, RUN_A, f"/000-fundamentals/{EVAL}"),
        "--deployment",
        deployment.address,
        "--json",
    )

    assert 1 <= result.row["files"] <= 2


@pytest.mark.req("A-01")
def test_an_unknown_visualizer_asks_which_deployment_is_meant(deployment):
    result = errata("analyze", visualizer(deployment, RUN_A))

    assert (result.code, "--deployment prod" in result.talk) == (2, True)


@pytest.mark.req("A-01")
def test_a_deployment_can_be_named_in_the_user_s_own_configuration(deployment, at_home):
    folder = at_home / "config" / "errata"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(f'[deployments.here]\nurl = "{deployment.address}"\n')

    assert done("fetch", RUN_A, "--deployment", "here", "--json").row["failed"] == 10


@pytest.mark.req("A-01")
@pytest.mark.parametrize(("said", "asked"), [((), "prod"), (("--deployment", "dev"), "dev")])
def test_an_id_alone_is_asked_of_production_and_of_another_only_where_that_is_said(said, asked, monkeypatch):
    with Deployment("run_a") as prod, Deployment("run_a") as dev:
        known = {"prod": prod, "dev": dev}
        for name, one in known.items():
            monkeypatch.setitem(DEPLOYMENTS, name, one.address)
        done("fetch", RUN_A, *said)

        assert {name for name, one in known.items() if one.calls} == {asked}


@pytest.mark.req("A-02")
def test_the_token_of_a_runner_is_neither_sent_nor_kept(at_home, monkeypatch):
    token = "runner-token-0123456789"
    for name in ("CONVEX_AUTH_TOKEN", "CONVEX_EVALS_TOKEN", "CONVEX_DEPLOY_KEY"):
        monkeypatch.setenv(name, token)
    with Deployment("run_a") as running:
        done("import", RUN_A, "--deployment", running.address)

        assert running.calls
        assert token not in json.dumps(running.calls)
        assert {call["key"] for call in running.calls} == {""}
    assert not [path for path in at_home.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]


@pytest.mark.req("A-02")
def test_a_key_goes_only_to_the_host_it_was_named_for(at_home, monkeypatch):
    monkeypatch.setenv("CONVEX_KEY", ADMIN_KEY)
    folder = at_home / "config" / "errata"
    folder.mkdir(parents=True)
    with Deployment("run_a", public=False) as ours, Deployment("run_a", public=False) as theirs:
        (folder / "config.toml").write_text(f'[deployments.ours]\nurl = "{ours.address}"\nkey_name = "CONVEX_KEY"\n')
        assert done("fetch", RUN_A, "--deployment", "ours", "--json").row["failed"] == 10
        assert errata("fetch", RUN_A, "--deployment", theirs.address).code == 2

        assert any(call["key"] for call in ours.calls)
        assert not any(call["key"] for call in theirs.calls)


@pytest.mark.req("A-02")
def test_a_project_s_own_file_may_not_name_a_deployment(deployment, at_home):
    (at_home / "errata.toml").write_text(f'[deployments.here]\nurl = "{deployment.address}"\nkey_name = "SECRET"\n')

    assert errata("fetch", RUN_A, "--deployment", "here").code == 2


def test_what_can_t_be_reached_is_told_with_exit_2(monkeypatch):
    monkeypatch.setattr(transport, "LONGEST_WAIT", 0)
    result = errata("fetch", RUN_A, "--deployment", "http://127.0.0.1:9", "--timeout", "0.2")

    assert result.code == 2
    assert "`127.0.0.1:9` refuses the connection" in result.talk
