"""The digest of the content of a run."""

from errata.store.blocks import ContentDigest


def test_the_order_of_cases_matters_and_the_order_of_blocks_does_not():
    one, two, three = ContentDigest(), ContentDigest(), ContentDigest()
    for digest, numbers in ((one, (1, 2)), (two, (2, 1)), (three, (1, 2))):
        digest.add_cases([b"a", b"b"] if digest is not three else [b"b", b"a"])
        for number in numbers:
            digest.add_block(number, f"block {number}".encode())

    assert one.hexdigest() == two.hexdigest() != three.hexdigest()
