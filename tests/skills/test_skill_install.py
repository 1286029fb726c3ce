"""`errata skill`: installed where an agent looks, marked, and never over what somebody wrote."""

import pytest

from errata.skills import all_skills
from errata.skills.install import AGENTS, skill_folders
from terminal import done, errata

NAME = "errata-analyze-run"
COUNT = len(all_skills())


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    return project


def states(*arguments):
    return {row["skill"]: row["state"] for row in errata("skill", "check", *arguments, "--json").rows}


@pytest.mark.parametrize("agent", AGENTS)
def test_skills_are_installed_where_each_agent_looks(agent, project):
    done("skill", "install", "--agent", agent)

    installed = project / AGENTS[agent].project
    assert sorted(path.parent.name for path in installed.glob("*/SKILL.md")) == [one.name for one in all_skills()]
    assert set(states("--agent", agent).values()) == {"current"}


def test_installing_again_changes_nothing(project):
    done("skill", "install", "--agent", "claude")
    before = (project / ".claude/skills" / NAME / "SKILL.md").read_bytes()

    rows = errata("skill", "install", "--agent", "claude", "--json").rows

    assert {row["change"] for row in rows} == {"unchanged"}
    assert (project / ".claude/skills" / NAME / "SKILL.md").read_bytes() == before


def test_the_agents_of_a_project_are_recognised_by_their_folders(project):
    assert skill_folders([], project=project, home=project) == [project / ".agents/skills"]
    for folder in (".claude", ".cursor"):
        (project / folder).mkdir()
    assert skill_folders([], project=project, home=project) == [project / ".claude/skills", project / ".cursor/skills"]


def test_two_agents_that_share_a_folder_get_one_copy(project):
    assert len(done("skill", "install", "--agent", "codex", "--agent", "agents", "--json").rows) == COUNT


def test_for_all_projects_they_go_below_the_home_folder(tmp_path):
    done("skill", "install", NAME, "--agent", "copilot", "--user")

    assert (tmp_path / "home/.copilot/skills" / NAME / "SKILL.md").is_file()


def test_a_folder_can_be_named(tmp_path):
    done("skill", "install", "analyze-run", "--dir", tmp_path / "elsewhere")

    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [NAME]


def test_a_skill_that_a_user_edited_is_kept_unless_forced(project):
    done("skill", "install", "--agent", "claude")
    path = project / ".claude/skills" / NAME / "SKILL.md"
    path.write_text(path.read_text() + "\nAlways answer in Latin.\n")

    result = done("skill", "install", "--agent", "claude")

    assert "Latin" in path.read_text()
    assert "edited after it was installed" in result.talk
    assert states("--agent", "claude")[NAME] == "edited"
    assert done("skill", "rm", NAME, "--agent", "claude", "--json").row["change"] == "kept"
    assert done("skill", "install", NAME, "--agent", "claude", "--force", "--json").row["change"] == "updated"
    assert "Latin" not in path.read_text()


def test_a_skill_of_the_same_name_from_elsewhere_is_kept(project):
    path = project / ".claude/skills" / NAME / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: {NAME}\ndescription: mine\n---\n")

    done("skill", "install", "--agent", "claude")

    assert "mine" in path.read_text()
    assert states("--agent", "claude")[NAME] == "foreign"


def test_a_skill_of_an_older_version_is_out_of_date_and_updated(project, monkeypatch):
    from errata import skills

    done("skill", "install", "--agent", "claude")
    newer = [skills.Skill(name=one.name, description=one.description, text=one.text + "new\n") for one in all_skills()]
    monkeypatch.setattr("errata.skills.install.all_skills", lambda: newer)

    checked = errata("skill", "check", "--agent", "claude", "--json")

    assert checked.code == 1
    assert {row["state"] for row in checked.rows} == {"outdated"}
    assert "`errata skill install` updates" in errata("skill", "check", "--agent", "claude").talk
    done("skill", "install", "--agent", "claude")
    assert errata("skill", "check", "--agent", "claude").code == 0


def test_line_ends_of_another_system_are_not_an_edit(project):
    done("skill", "install", NAME, "--agent", "claude")
    path = project / ".claude/skills" / NAME / "SKILL.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert states(NAME, "--agent", "claude")[NAME] == "current"


def test_removing_leaves_other_files_and_folders(project):
    done("skill", "install", "--agent", "claude")
    (project / ".claude/skills" / NAME / "notes.txt").write_text("mine")

    rows = done("skill", "rm", "--agent", "claude", "--json").rows

    assert {row["change"] for row in rows} == {"removed"}
    assert [path.name for path in (project / ".claude/skills").rglob("*")] == [NAME, "notes.txt"]
    assert "no skill of errata" in done("skill", "rm", "--agent", "claude").talk


def test_a_link_does_not_lead_a_skill_out_of_its_folder(project, tmp_path):
    target = tmp_path / "precious.md"
    target.write_text("precious")
    path = project / ".claude/skills" / NAME / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.symlink_to(target)

    result = errata("skill", "install", NAME, "--agent", "claude", "--force")

    assert result.code == 2
    assert target.read_text() == "precious"


def test_the_list_names_every_skill():
    result = done("skill", "list")

    assert [line for line in result.out.splitlines() if not line.startswith(" ")] == [one.name for one in all_skills()]
    assert len(done("skill", "list", "--json").rows) == COUNT


def test_an_agent_that_is_not_known_is_refused():
    result = errata("skill", "install", "--agent", "clade")

    assert result.code == 2
    assert "claude" in result.talk
