"""One short pass of each slow kind; `make soak` runs them at length. Fuzz has its own, with the sources."""

from soak import kills, load, reviews, secrets


def test_imports_that_are_killed_leave_nothing_half_visible(tmp_path, capsys):
    kills.run(tmp_path, rounds=3, size=2 * kills.MB)

    assert "no half-visible run" in capsys.readouterr().out


def test_several_imports_at_once_are_each_seen_whole(tmp_path, capsys):
    load.run(tmp_path, writers=3, size=load.MB)

    assert "3 imports of 1 MB at once" in capsys.readouterr().out


def test_reviews_that_are_killed_pay_nothing_twice_and_forget_nothing(tmp_path, capsys):
    reviews.run(tmp_path, packets=24, kills=2)

    assert "books agree" in capsys.readouterr().out


def test_no_secret_is_in_anything_that_is_written(tmp_path):
    assert secrets.run(tmp_path, secrets=1, each=1, seed=11) == []
