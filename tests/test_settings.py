"""Configuration from flags, environment and files."""

import hashlib
import tomllib
from pathlib import Path

import pytest

from errata.errors import SettingsError
from errata.model.store_address import StoreAddress, address_of
from errata.settings import load_settings
from errata.settings.files import TAKES, trust_hash
from errata.settings.store_location import local_file


def settings(**given):
    return load_settings(**{"environ": {}} | given)


def sha256_of(path):
    content = path.read_bytes()
    return trust_hash(path, content, tomllib.loads(content.decode()))


def with_trust(folder, **environ):
    """The environment of somebody who has checked the project's file."""
    return {"ERRATA_TRUST": sha256_of(folder / "errata.toml")} | environ


def test_a_flag_wins_over_the_environment(tmp_path):
    chosen = settings(store="flag.db", environ={"ERRATA_STORE": "env.db"}, cwd=tmp_path)

    assert chosen.store == Path("flag.db")


def test_the_environment_wins_over_what_is_found(tmp_path):
    a_store(tmp_path)

    assert settings(environ={"ERRATA_STORE": "env.db"}, cwd=tmp_path).store == Path("env.db")


def test_an_empty_variable_names_no_store(tmp_path):
    assert settings(environ={"ERRATA_STORE": ""}, cwd=tmp_path).store == tmp_path / ".errata" / "errata.db"


def test_home_is_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert settings(store="~/evals.db").store == tmp_path / "evals.db"


def a_store(folder):
    path = folder / ".errata" / "errata.db"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def test_a_store_is_found_upward_like_git(tmp_path):
    path = a_store(tmp_path)
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)

    assert settings(cwd=deep).store == path


def test_the_nearest_store_is_taken(tmp_path):
    a_store(tmp_path)
    nearest = a_store(tmp_path / "a")

    assert settings(cwd=tmp_path / "a" / "b").store == nearest


def test_a_folder_of_the_name_without_a_store_is_passed_over(tmp_path):
    path = a_store(tmp_path)
    (tmp_path / "a" / ".errata").mkdir(parents=True)

    assert settings(cwd=tmp_path / "a").store == path


def test_a_new_store_lies_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert settings().store == tmp_path / ".errata" / "errata.db"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter22@db/x",
        "postgres://me:hunter22@db/x",
        "POSTGRESQL://me:hunter22@db/x",
        " postgresql://me:hunter22@db:5433/x?sslmode=require",
        "postgresql://me:pass@hunter22:word@db/x",
        "postgresql://db/x?user=me&password=hunter22",
        "postgresql://db/x?sslpassword=hunter22&user=me",
        "postgresql://me:hunter22@/x?host=/run/postgresql",
    ],
)
def test_an_address_names_a_database_and_shows_no_password(url, tmp_path):
    chosen = settings(store=url)

    assert isinstance(chosen.store, StoreAddress)
    assert "hunter22" in chosen.store.url
    assert "hunter22" not in f"{chosen.store} {chosen.store!r} {chosen!r}"
    assert chosen.store.name == "x"
    assert "hunter22" not in str(local_file(chosen.store, {"XDG_CACHE_HOME": str(tmp_path)}))


def test_files_beside_a_database_lie_in_the_cache_whatever_its_password(tmp_path):
    def place(url: str) -> Path:
        return local_file(address_of(url), {"XDG_CACHE_HOME": str(tmp_path)})

    assert place("postgresql://me:one@db/x") == place("postgresql://me:two@db/x") == place("postgresql://me@db/x")
    assert place("postgresql://me@db/x") != place("postgresql://me@other/x")
    assert place("postgresql://me@db/x").is_relative_to(tmp_path)


@pytest.mark.parametrize("url", ["postgresql://me:hunter22@db", "postgresql://me:hunter22@db/", "postgresql://"])
def test_an_address_without_a_database_is_refused(url):
    with pytest.raises(SettingsError, match="does not name a database") as result:
        settings(store=url)

    assert "hunter22" not in f"{result.value.message} {result.value.hint}"


def test_an_address_may_come_from_the_environment_or_the_users_file(tmp_path):
    write(tmp_path / "errata" / "config.toml", 'store = "postgresql://me@db/x"\n')

    assert settings(environ={"ERRATA_STORE": "postgresql://me@db/y"}).store == address_of("postgresql://me@db/y")
    assert settings(environ={"XDG_CONFIG_HOME": str(tmp_path)}, cwd=tmp_path).store == address_of(
        "postgresql://me@db/x"
    )


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://me:hunter22@db/x", "mysql://me:hunter22@db/x", "http://me:hunter22@db/x"]
)
def test_another_database_server_is_refused_without_repeating_its_password(url):
    with pytest.raises(SettingsError) as result:
        settings(store=url)

    assert "--store FILE" in result.value.hint
    assert "hunter22" not in result.value.message


@pytest.mark.parametrize(
    ("environ", "author"),
    [
        ({"ERRATA_AUTHOR": "ada", "USER": "root"}, "ada"),
        ({"USER": "grace"}, "grace"),
        ({"LOGNAME": "alan"}, "alan"),
        ({}, ""),
    ],
    ids=str,
)
def test_the_author_of_an_opinion_is_named_by_the_environment(environ, author):
    assert settings(environ=environ).author == author


def test_settings_can_not_be_changed():
    with pytest.raises(AttributeError):
        settings().author = "somebody"


# --- errata.toml and config.toml


RULE = '[[rule]]\nname = "mine"\nmeans = "so it is"\nowner = "task"\nstrength = "likely"\nmatch = "x"\n'


def write(path, text=RULE):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def at_home(tmp_path, text):
    """The environment of somebody who has a file of their own."""
    write(tmp_path / "home" / "errata" / "config.toml", text)
    return {"XDG_CONFIG_HOME": str(tmp_path / "home")}


def refused(tmp_path, text, **given):
    write(tmp_path / "errata.toml", text)
    with pytest.raises(SettingsError) as result:
        settings(cwd=tmp_path, **given)
    return result.value


def test_without_files_nothing_is_set(tmp_path):
    chosen = settings(cwd=tmp_path)

    assert (chosen.rule_files, chosen.taxonomy_files, chosen.timeouts) == ((), (), "count")


def test_the_nearest_project_file_is_taken(tmp_path):
    write(tmp_path / "errata.toml", 'timeouts = "count"')
    write(tmp_path / "a" / "errata.toml", 'timeouts = "drop"')
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)

    assert settings(cwd=deep).timeouts == "drop"


def test_the_project_wins_over_the_user(tmp_path):
    environ = at_home(tmp_path, 'timeouts = "drop"')
    write(tmp_path / "work" / "errata.toml", 'timeouts = "count"')

    assert settings(environ=environ, cwd=tmp_path / "work").timeouts == "count"


def test_the_user_decides_where_the_project_says_nothing(tmp_path):
    environ = at_home(tmp_path, 'timeouts = "drop"')
    write(tmp_path / "work" / "errata.toml", "")

    assert settings(environ=environ, cwd=tmp_path / "work").timeouts == "drop"


def test_the_users_file_lies_below_home_where_no_variable_names_its_place(tmp_path):
    write(tmp_path / ".config" / "errata" / "config.toml", 'timeouts = "drop"')

    assert settings(environ={"HOME": str(tmp_path)}, cwd=tmp_path).timeouts == "drop"


def test_a_relative_xdg_folder_is_ignored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "conf" / "errata" / "config.toml", 'timeouts = "drop"')

    assert settings(environ={"XDG_CONFIG_HOME": "conf"}, cwd=tmp_path).timeouts == "count"


def test_rules_are_found_beside_the_file_that_names_them(tmp_path):
    one, other = write(tmp_path / "rules" / "a.toml"), write(tmp_path / "rules" / "b.toml")
    write(tmp_path / "errata.toml", 'rules = ["rules/*.toml"]')
    deep = tmp_path / "deep"
    deep.mkdir()

    assert settings(cwd=deep, environ=with_trust(tmp_path)).rule_files == (one, other)


def test_the_users_rules_come_before_the_projects(tmp_path):
    environ = at_home(tmp_path, 'rules = ["mine.toml"]\ntaxonomies = ["words.toml"]')
    mine, words = write(tmp_path / "home/errata/mine.toml"), write(tmp_path / "home/errata/words.toml")
    theirs = write(tmp_path / "work" / "theirs.toml")
    write(tmp_path / "work" / "errata.toml", 'rules = ["theirs.toml"]')

    chosen = settings(environ=with_trust(tmp_path / "work", **environ), cwd=tmp_path / "work")

    assert (chosen.rule_files, chosen.taxonomy_files) == ((mine, theirs), (words,))


def test_a_file_that_two_patterns_name_is_taken_once(tmp_path):
    path = write(tmp_path / "rules" / "a.toml")
    write(tmp_path / "errata.toml", 'rules = ["rules/a.toml", "rules/*.toml"]')

    assert settings(cwd=tmp_path, environ=with_trust(tmp_path)).rule_files == (path,)


@pytest.mark.parametrize("named", ["/etc/passwd", "../rules.toml", "rules/../../x.toml", "~/rules.toml", "", " "])
def test_a_path_that_is_not_below_the_file_is_refused(tmp_path, named):
    result = refused(tmp_path, f'rules = ["{named}"]')

    assert f"`{named}` of `rules` in `{tmp_path / 'errata.toml'}`" in result.message
    assert "without `..`" in result.hint


def test_a_link_that_leads_out_is_refused(tmp_path):
    outside = write(tmp_path / "outside" / "secret.toml")
    project = tmp_path / "project"
    project.mkdir()
    (project / "rules").symlink_to(outside.parent)

    assert "leads out" in refused(project, 'rules = ["rules/*.toml"]').message


def test_a_link_that_stays_inside_is_followed(tmp_path):
    write(tmp_path / "shared" / "a.toml")
    (tmp_path / "rules").symlink_to(tmp_path / "shared")
    write(tmp_path / "errata.toml", 'rules = ["rules/*.toml"]')

    assert settings(cwd=tmp_path, environ=with_trust(tmp_path)).rule_files == (tmp_path / "rules" / "a.toml",)


@pytest.mark.parametrize("named", ["rules/*.toml", "rules/mine.toml"])
def test_a_pattern_that_names_no_file_is_refused(tmp_path, named):
    result = refused(tmp_path, f'rules = ["{named}"]')

    assert result.message.endswith("matches no file")


def test_a_pattern_through_all_folders_is_refused(tmp_path):
    assert "name each folder" in refused(tmp_path, 'rules = ["**/*.toml"]').hint


def test_the_project_may_name_its_store_below_it(tmp_path):
    write(tmp_path / "errata.toml", 'store = "evals/mine.db"')
    a_store(tmp_path / "deep")

    assert settings(cwd=tmp_path / "deep").store == tmp_path / "evals" / "mine.db"


def test_the_project_can_not_name_a_store_elsewhere(tmp_path):
    assert "not a path below that file" in refused(tmp_path, 'store = "/var/lib/errata.db"').message


def test_the_users_store_is_used_where_the_project_has_none(tmp_path):
    environ = at_home(tmp_path, f'store = "{tmp_path}/all.db"')
    folder = tmp_path / "work"
    folder.mkdir()

    assert settings(environ=environ, cwd=folder).store == tmp_path / "all.db"


def test_a_store_that_is_there_wins_over_the_users(tmp_path):
    environ = at_home(tmp_path, f'store = "{tmp_path}/all.db"')
    path = a_store(tmp_path / "work")

    assert settings(environ=environ, cwd=tmp_path / "work").store == path


def test_the_environment_wins_over_the_project(tmp_path):
    write(tmp_path / "errata.toml", 'store = "mine.db"')

    assert settings(environ={"ERRATA_STORE": "env.db"}, cwd=tmp_path).store == Path("env.db")


@pytest.mark.parametrize(
    ("text", "key", "right"),
    [
        ('timeouts = "ignore"', "timeouts", '`timeouts = "count"` or `timeouts = "drop"`'),
        ("timeouts = true", "timeouts", '`timeouts = "count"`'),
        ('rules = "rules/*.toml"', "rules", '`rules = ["rules/*.toml"]`'),
        ("rules = [1]", "rules", '`rules = ["rules/*.toml"]`'),
        ("store = 1", "store", '`store = ".errata/errata.db"`'),
    ],
)
def test_a_wrong_value_is_refused_with_a_right_one(tmp_path, text, key, right):
    result = refused(tmp_path, text, environ={"ERRATA_TRUST": hashlib.sha256(text.encode()).hexdigest()})

    assert result.message.startswith(f"`{key}` in `{tmp_path / 'errata.toml'}`")
    assert right in result.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("timeout = 1", "did you mean `timeouts`?"),
        ("[rule]\nx = 1", "did you mean `rules`?"),
        ("zebra = 1", "use one of: `store`, `rules`, `taxonomies`, `timeouts`, `reviewers`, `deployments`"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_known(tmp_path, text, hint):
    assert refused(tmp_path, text).hint == hint


@pytest.mark.parametrize(
    "content", [b"timeouts = ", b"\xff\xfe", b"x = [" + b"[" * 100_000], ids=["cut", "bytes", "deep"]
)
def test_a_file_that_is_no_toml_is_refused(tmp_path, content):
    (tmp_path / "errata.toml").write_bytes(content)

    with pytest.raises(SettingsError, match="is not valid TOML"):
        settings(cwd=tmp_path)


def test_a_file_that_is_far_too_large_is_refused(tmp_path):
    assert "larger than" in refused(tmp_path, "#" * 2_000_000).message


# --- the document


def test_the_example_of_the_document_can_be_used(tmp_path):
    document = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
    example = document.split("`errata.toml`:\n\n```toml\n")[1].split("```")[0]
    rule, words = write(tmp_path / "rules" / "mine.toml"), write(tmp_path / "taxonomies" / "mine.toml")
    write(tmp_path / "errata.toml", example)

    chosen = settings(cwd=tmp_path, environ=with_trust(tmp_path))

    assert (chosen.rule_files, chosen.taxonomy_files, chosen.timeouts) == ((rule,), (words,), "count")
    assert chosen.store == tmp_path / ".errata" / "errata.db"


def test_the_document_explains_every_setting():
    document = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")

    assert [key for key in TAKES if f"| `{key}` |" not in document] == []
