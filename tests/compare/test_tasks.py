"""Whether two logs ask the same of a case."""

from errata.compare.tasks import is_changed
from errata.model import Artefact, Case


def a_case(**changes):
    return Case(**{"run": "0" * 16, "suite": "suite", "native_id": "case-1", "input": "Say hello."} | changes)


def a_file(role="grader", path="grader.test.ts", blob="b1"):
    return Artefact(role=role, path=path, blob=blob)


def test_another_text_is_another_task():
    assert is_changed([a_case(), a_case(input="Say goodbye.")])


def test_another_grader_is_another_task():
    assert is_changed([a_case(artefacts=(a_file(),)), a_case(artefacts=(a_file(blob="b2"),))])


def test_another_reference_is_another_task():
    assert is_changed([a_case(expected="hello"), a_case(expected="Hello!")])


def test_a_log_that_tells_less_contradicts_nothing():
    assert not is_changed([a_case(artefacts=(a_file(),)), a_case(), a_case(input="", expected="hello")])


def test_a_model_output_among_the_files_is_no_part_of_the_task():
    one = a_case(artefacts=(a_file(), a_file("output", "convex/http.ts", "b3")))
    other = a_case(artefacts=(a_file(), a_file("output", "convex/http.ts", "b4")), expected="hello")

    assert not is_changed([one, other])


def test_any_two_of_several_may_contradict_each_other():
    full = a_case(artefacts=(a_file(),))

    assert is_changed([a_case(), full, a_case(artefacts=(a_file(blob="b2"),))])


def test_a_chat_of_one_message_asks_what_its_text_asks():
    chat = [{"role": "user", "content": "What is it?"}]

    assert not is_changed([a_case(input="What is it?"), a_case(input=chat)])
    assert is_changed([a_case(input="What is it?"), a_case(input=[{"role": "user", "content": "Who is it?"}])])
    assert is_changed([a_case(input="What is it?"), a_case(input=[{"role": "system", "content": "Hm."}, *chat])])
