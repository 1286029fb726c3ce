"""`errata token`."""

from terminal import errata


def test_a_token_is_printed_once_and_only_its_hash_is_stored(tmp_path):
    store = tmp_path / "errata.db"
    created = errata("token", "create", "ci", "--scope", "report", "--store", store)
    secret = created.out.strip()

    assert secret.startswith("errata_")
    assert "not shown again" in created.talk
    assert secret not in errata("token", "list", "--store", store).out
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("errata.db*"))


def test_a_name_is_given_once_and_is_free_after_it_was_revoked(tmp_path):
    store = ("--store", tmp_path / "errata.db")
    assert errata("token", "create", "ada", "--scope", "read", "--scope", "review", *store).code == 0

    assert "There is a token `ada` already" in errata("token", "create", "ada", "--scope", "read", *store).talk
    assert errata("token", "revoke", "ada", *store).code == 0
    assert errata("token", "create", "ada", "--scope", "read", *store).code == 0
    rows = errata("token", "list", "--json", *store).rows
    assert [(row["scopes"], row["state"]) for row in rows] == [(["read", "review"], "revoked"), (["read"], "active")]


def test_an_unknown_token_is_named_with_the_nearest_one(tmp_path):
    store = ("--store", tmp_path / "errata.db")
    errata("token", "create", "nightly", "--scope", "report", *store)

    refused = errata("token", "revoke", "nihtly", *store)

    assert refused.code == 2
    assert "did you mean `nightly`?" in refused.talk
