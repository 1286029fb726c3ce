"""Symptoms hide causes: what members share besides how they fail."""

from failures_to_group import an_error, bucket_with, members

from errata.buckets.suggest import UsualParameters, suggest

SYMPTOMS = ("no message in the stream", "the tool call could not be parsed", "the session never opened a socket")


def one_package_is_missing():
    """Seventeen of twenty-two failures are of one provider, under three symptoms."""
    google = [an_error(f"g{at}", SYMPTOMS[at % 3], parameters={"provider": "google", "model": "m"}) for at in range(17)]
    others = [
        an_error(f"o{at}", f"{word} is wrong in the plan", parameters={"provider": provider, "model": "m"})
        for at, (word, provider) in enumerate(zip(("pier", "ferry", "price", "captain", "berth"), "abcab", strict=True))
    ]
    return google + others


def test_what_all_members_share_and_the_others_do_not_is_told():
    buckets = suggest(one_package_is_missing())

    assert bucket_with("g0", buckets).parameters == {"owner": "unknown", "provider": "google"}


def test_what_every_failure_of_the_suite_has_explains_nothing():
    assert all("model" not in bucket.parameters for bucket in suggest(one_package_is_missing()).buckets)


def test_a_single_failure_shares_nothing():
    failures = [an_error("1", "alone", parameters={"tool": "book"}), an_error("2", "pier", parameters={"tool": "end"})]

    assert all(bucket.parameters == {"owner": "unknown"} for bucket in suggest(failures).buckets)


def test_one_value_behind_several_buckets_stands_at_each_of_them():
    found = suggest(one_package_is_missing())

    result = [bucket.parameters.get("provider") for bucket in found.buckets if len(members(bucket, found)) > 1]
    assert result == ["google"] * 3


def test_shared_values_are_of_the_same_suite():
    failures = [an_error(str(at), "same", suite=suite, parameters={"tool": "x"}) for at, suite in enumerate("aab")]

    assert UsualParameters(failures).shared("a", failures[:2]) == {}


def test_a_small_bucket_shares_a_common_value_by_chance():
    common = [an_error(f"c{at}", f"{'abcdefgh'[at] * 4} went wrong", parameters={"tool": "book"}) for at in range(6)]
    rest = [an_error(f"r{at}", f"{'ijk'[at] * 4} went wrong", parameters={"tool": "end"}) for at in range(3)]
    pair = [an_error(each, "the same berth twice", parameters={"tool": "book"}) for each in "xy"]

    assert bucket_with("x", suggest([*common, *rest, *pair])).parameters == {"owner": "unknown"}


def test_what_a_known_bucket_shared_goes_when_new_members_contradict_it():
    known = suggest(one_package_is_missing())
    other = an_error("new", SYMPTOMS[0], parameters={"provider": "other"})
    same = an_error("new", SYMPTOMS[0], parameters={"provider": "google"})

    assert "provider" not in bucket_with("new", suggest([other], known.buckets, known.places)).parameters
    assert bucket_with("new", suggest([same], known.buckets, known.places)).parameters["provider"] == "google"
