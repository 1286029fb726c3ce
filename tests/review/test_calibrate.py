"""A reviewer against people's labels."""

from errata.review.calibrate import calibrate

PEOPLE = {"a": "MODEL", "b": "MODEL", "c": "TASK", "d": "TASK"}


def test_what_the_reviewer_has_not_read_is_neither_right_nor_wrong():
    found = calibrate(PEOPLE, {"a": "MODEL", "c": "MODEL"})

    assert (found.labelled, found.compared, found.right) == (4, 2, 1)
    assert found.accuracy == 0.5


def test_misses_are_named():
    assert calibrate(PEOPLE, {"c": "MODEL"}).misses == (("c", "TASK", "MODEL"),)


def test_each_label_has_precision_and_recall():
    found = calibrate(PEOPLE, dict.fromkeys("abcd", "MODEL"))
    model = next(one for one in found.labels if one.label == "MODEL")
    task = next(one for one in found.labels if one.label == "TASK")

    assert (model.precision, model.recall) == (0.5, 1.0)
    assert (task.precision, task.recall) == (None, 0.0)


def test_nothing_compared_gives_no_figure():
    found = calibrate(PEOPLE, {})

    assert (found.accuracy, found.kappa) == (None, None)
