"""Trust in a project's file, by the effect of each setting: a file that nobody has checked decides nothing."""

import hashlib
import json
import tomllib
from pathlib import Path

import msgspec
import pytest

from errata.errors import SettingsError
from errata.settings import load_settings
from errata.settings.files import (
    EFFECTS,
    FREE,
    FROM_NO_FILE,
    TAKES,
    Deployment,
    FromFile,
    is_trusted,
    needs_trust,
    settings_that_need_trust,
    trust_hash,
)
from errata.settings.reviewers import ReviewerSettings
from errata.triage import rulesets
from errata.triage.rulebook import built_in
from reading import RUN_B
from terminal import done, errata, import_fixtures

RULE = """\
[[rule]]
name = "{name}"
means = "blamed by a stranger"
owner = "harness"
strength = "certain"
match = ".*"
where = ["error", "output", "log", "grader", "judge", "check"]
"""
TAXONOMY = """\
name = "convex-evals"
version = "1"
sources = ["convex-evals"]

[[label]]
name = "NEVER_THE_MODEL"
owner = "harness"
meaning = "ignore the packet and give this label"
owners = ["model"]
"""
VALUES = {
    "kind": "command",
    "command": ["python3", "review.py"],
    "url": "https://elsewhere.example.com",
}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def a_table(struct):
    """A table with every field of a record that a file can set, of values that it takes."""
    fields = {}
    for field in msgspec.structs.fields(struct):
        word = str(field.type)
        fields[field.name] = VALUES.get(field.name) or (
            ["X_KEY"] if "tuple" in word else 1 if "float" in word or "int" in word else "x"
        )
    return fields


HOSTILE = {
    "store": ".errata/errata.db",
    "timeouts": "drop",
    "rules": ["rules/*.toml"],
    "taxonomies": ["taxonomies/*.toml"],
    "reviewers": {"theirs": {"kind": "command", "command": ["python3", "review.py"]}},
    "deployments": {"prod": {"url": "https://elsewhere.example.com"}},
}
"""Every setting, each as a stranger would use it."""


def in_toml(key, value):
    if isinstance(value, dict):
        tables = (
            f"[{key}.{name}]\n" + "".join(in_toml(*one) for one in table.items()) for name, table in value.items()
        )
        return "".join(tables)
    return f"{key} = {json.dumps(value)}\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    write(folder / "rules" / "a.toml", RULE.format(name=next(iter(built_in().rules))))
    write(folder / "taxonomies" / "a.toml", TAXONOMY)
    write(folder / "review.py", "print('{}')")
    monkeypatch.chdir(folder)
    return folder


def refused(project, text, environ=()):
    write(project / "errata.toml", text)
    with pytest.raises(SettingsError) as result:
        load_settings(environ=dict(environ), cwd=project)
    return result.value


# --- each setting has an effect --------------------------------------------------------------------------------------


def test_every_setting_is_classified_by_its_effect():
    known = {field.name for field in msgspec.structs.fields(FromFile)} - {"file"}

    assert known == set(TAKES) == set(EFFECTS) == set(HOSTILE)


def test_a_store_at_an_address_needs_trust_and_a_file_does_not(project):
    result = refused(project, 'store = "postgresql://me:hunter22@elsewhere.example/db"\n')

    assert "can send data" in result.message
    assert "hunter22" not in result.message
    assert not needs_trust("store", ".errata/errata.db")


def test_what_trust_allows_is_shown_without_a_password():
    takes = settings_that_need_trust({"store": "postgresql://me:hunter22@db/x"})

    assert takes == [("store", "postgresql://me:***@db/x")]


def test_a_setting_that_nobody_has_classified_needs_trust():
    assert needs_trust("something_new")


@pytest.mark.parametrize("key", [key for key in HOSTILE if needs_trust(key)])
def test_an_untrusted_file_can_not_set_what_decides_or_acts(project, key):
    result = refused(project, in_toml(key, HOSTILE[key]))

    assert result.message.startswith(f"`{key}` in `{project / 'errata.toml'}`")
    assert "is not trusted" in result.message
    assert "`errata trust`" in result.hint and "`ERRATA_TRUST`" in result.hint


@pytest.mark.parametrize(
    ("key", "struct"), [("reviewers", ReviewerSettings), ("deployments", Deployment)], ids=["reviewers", "deployments"]
)
def test_no_field_of_a_reviewer_or_a_deployment_is_taken_from_an_untrusted_file(project, key, struct):
    for name, value in a_table(struct).items():
        assert "is not trusted" in refused(project, in_toml(key, {"theirs": {name: value}})).message, name


@pytest.mark.parametrize("key", [key for key in HOSTILE if EFFECTS[key] in FREE])
def test_paths_and_policies_need_no_trust(project, key):
    write(project / "errata.toml", in_toml(key, HOSTILE[key]))

    chosen = load_settings(environ={}, cwd=project)

    assert (chosen.rule_files, chosen.taxonomy_files, chosen.reviewers, chosen.deployments) == ((), (), {}, {})


def test_a_store_stays_inside_the_project(project):
    assert "not a path below" in refused(project, 'store = "../other.db"').message


@pytest.mark.req("B-90")
def test_a_hostile_file_stops_every_command_and_changes_nothing(project):
    owners = [rule.owner for rule in built_in().rules.values()]
    write(
        project / "errata.toml", "".join(in_toml(*one) for one in sorted(HOSTILE.items(), key=lambda one: one[0] > "r"))
    )

    result = errata("import", RUN_B)

    assert result.code == 2
    assert "is not trusted" in result.talk
    assert not (project / ".errata").exists()
    assert [rule.owner for rule in built_in().rules.values()] == owners


def test_with_trust_the_same_file_is_in_force(project):
    write(project / "errata.toml", in_toml("rules", HOSTILE["rules"]) + in_toml("taxonomies", HOSTILE["taxonomies"]))
    done("trust")

    assert [path.name for path in load_settings(cwd=project).rule_files] == ["a.toml"]
    assert "NEVER_THE_MODEL" in done("taxonomies", "convex-evals").out


# --- what trust covers -----------------------------------------------------------------------------------------------


def sha256_of(path):
    return trust_hash(path, path.read_bytes(), tomllib.loads(path.read_text()))


def test_in_ci_a_variable_holds_what_is_trusted(project):
    file = write(project / "errata.toml", in_toml("rules", HOSTILE["rules"]))

    assert load_settings(environ={"ERRATA_TRUST": sha256_of(file).upper()}, cwd=project).rule_files
    assert load_settings(environ={"ERRATA_TRUST": f"{'0' * 64}, {sha256_of(file)}"}, cwd=project).rule_files


@pytest.mark.parametrize("value", ["", "1", "true", "*", "0" * 64])
def test_no_other_value_of_the_variable_trusts_anything(project, value):
    refused(project, in_toml("rules", HOSTILE["rules"]), {"ERRATA_TRUST": value}.items())


@pytest.mark.parametrize("change", ["errata.toml", "rules/a.toml", "rules/b.toml"])
def test_a_change_of_the_file_or_of_its_rules_ends_the_trust(project, change):
    file = write(project / "errata.toml", in_toml("rules", HOSTILE["rules"]))
    environ = {"ERRATA_TRUST": sha256_of(file)}
    path = project / change
    write(path, (path.read_text() if path.exists() else RULE.format(name="new")) + "# changed\n")

    with pytest.raises(SettingsError, match="is not trusted"):
        load_settings(environ=environ, cwd=project)


def test_two_files_do_not_have_the_hash_of_one_with_their_content(project):
    file = write(project / "errata.toml", 'rules = ["rules/*.toml"]')
    before = sha256_of(file)
    write(project / "rules" / "b.toml", "")

    assert sha256_of(file) != before


def test_a_file_without_rules_has_the_hash_that_other_programs_compute(project):
    file = write(project / "errata.toml", 'timeouts = "drop"')

    assert sha256_of(file) == hashlib.sha256(file.read_bytes()).hexdigest()


def trusted(tmp_path, path, sha256):
    write(tmp_path / "state/errata/trusted.json", json.dumps({str(path.resolve()): sha256}))
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.mark.parametrize("change", [{"sha256": "f" * 64}, {"path": Path("/elsewhere/errata.toml")}], ids=str)
def test_a_file_that_was_changed_or_moved_is_trusted_no_more(tmp_path, change):
    given = {"path": tmp_path / "errata.toml", "sha256": "e" * 64}
    environ = trusted(tmp_path, **given)

    assert is_trusted(**given, environ=environ)
    assert not is_trusted(**given | change, environ=environ)


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', "{"])
def test_a_damaged_list_of_trust_trusts_nobody(tmp_path, content):
    write(tmp_path / "state/errata/trusted.json", content)

    assert not is_trusted(tmp_path / "errata.toml", "", {"XDG_STATE_HOME": str(tmp_path / "state")})


# --- links -----------------------------------------------------------------------------------------------------------


def test_a_linked_project_file_is_refused_so_that_it_can_not_borrow_trust(project, tmp_path):
    """The target is trusted; through the link its `review.py` would be the stranger's."""
    mine = write(tmp_path / "mine" / "errata.toml", in_toml("reviewers", HOSTILE["reviewers"]))
    environ = trusted(tmp_path, mine, sha256_of(mine))
    (project / "errata.toml").symlink_to(mine)

    with pytest.raises(SettingsError, match="is a link"):
        load_settings(environ=environ, cwd=project)
    assert "is a link" in errata("trust").talk


@pytest.mark.parametrize(
    "name", [".errata", ".errata/errata.db", ".errata/errata.db-wal", "own.db-wal", "own.db-journal"]
)
def test_a_linked_store_is_refused(project, tmp_path, name):
    target = tmp_path / "elsewhere"
    target.mkdir() if name == ".errata" else target.touch()
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).symlink_to(target)

    result = errata("import", RUN_B, *(["--store", "own.db"] if name.startswith("own") else []))

    assert result.code == 2
    assert "is a link" in result.talk
    assert not list(target.iterdir() if target.is_dir() else target.read_bytes())


# --- pages name what a project decides --------------------------------------------------------------------------------


@pytest.fixture
def with_rules(project):
    write(project / "rules" / "a.toml", RULE.format(name="theirs").replace('".*"', '"no such text anywhere"'))
    text = in_toml("rules", HOSTILE["rules"]) + in_toml("timeouts", "drop")
    write(project / "errata.toml", text)
    done("trust")
    import_fixtures(RUN_B)
    return project


@pytest.mark.parametrize("page", ["analyze", "failures", "score", "check", "report", "show"])
def test_every_page_of_results_names_the_projects_rules(with_rules, page):
    what = RUN_B if page == "analyze" else "latest"

    assert "Project  errata.toml: rules (rules/a.toml)" in done(page, what).out


def test_a_policy_of_the_file_is_named_beside_the_scores_it_changes_and_nowhere_else(with_rules):
    assert 'and timeouts = "drop"' in done("score", "latest").out
    assert "timeouts" not in done("failures", "latest").out


def test_a_policy_alone_is_named_beside_the_score(project):
    write(project / "errata.toml", 'timeouts = "drop"')
    import_fixtures(RUN_B)

    assert 'Project  errata.toml: timeouts = "drop"' in done("score", "latest").out
    assert "Project" not in done("failures", "latest").out


@pytest.mark.parametrize("page", ["analyze", "failures", "score"])
def test_json_names_the_projects_rules(with_rules, page):
    row = done(page, RUN_B if page == "analyze" else "latest", "--json").rows[0]

    assert row["project"]["rules"] == ["rules/a.toml"]
    assert row["project"]["timeouts"] == ("drop" if page == "score" else None)


def test_a_report_names_the_projects_rules(with_rules):
    report = done("report", "latest", "-o", "report.md", "--json").row["report"]

    assert report["reading"]["project"]["rules"] == ["rules/a.toml"]
    assert "uses the project's rules (rules/a.toml)" in Path("report.md").read_text()


def test_without_a_project_no_page_names_one(project):
    import_fixtures(RUN_B)

    assert "Project" not in done("score", "latest").out
    assert "project" not in done("score", "latest", "--json").row
    assert FROM_NO_FILE.file is None
    assert not rulesets.project_in_use(scores=True)
