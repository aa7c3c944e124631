"""Merkle trees: the published roots, paths and proofs of Certificate Transparency, and properties over random trees."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.merkle import EMPTY_ROOT, Tree, check_consistency, check_inclusion, leaf_digest, node_digest

# The entries and roots of the reference implementation of Certificate Transparency.
ENTRIES = [
    bytes.fromhex(text)
    for text in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEFT_PAIR = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
SECOND_LEAF = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
FIFTH_LEAF = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
THIRD_PAIR = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
LAST_PAIR = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
RIGHT_HALF = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"

lists = st.lists(st.binary(max_size=8), min_size=1, max_size=70)


def told(digests):
    return [digest.hex() for digest in digests]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_the_published_ones(size):
    assert Tree(ENTRIES[:size]).root.hex() == ROOTS[size]


def test_the_root_of_nothing_is_the_digest_of_nothing():
    assert Tree([]).root == EMPTY_ROOT == hashlib.sha256().digest()


@pytest.mark.parametrize(
    ("index", "size", "path"),
    [
        (0, 1, []),
        (0, 8, [SECOND_LEAF, LEFT_PAIR, RIGHT_HALF]),
        (5, 8, [FIFTH_LEAF, LAST_PAIR, ROOTS[4]]),
        (2, 3, [ROOTS[2]]),
        (1, 5, [ROOTS[1], LEFT_PAIR, FIFTH_LEAF]),
    ],
)
def test_inclusion_paths_are_the_published_ones(index, size, path):
    assert told(Tree(ENTRIES[:size]).inclusion_path(index)) == path


@pytest.mark.parametrize(
    ("first", "second", "proof"),
    [
        (1, 1, []),
        (1, 8, [SECOND_LEAF, LEFT_PAIR, RIGHT_HALF]),
        (6, 8, [THIRD_PAIR, LAST_PAIR, ROOTS[4]]),
        (2, 5, [LEFT_PAIR, FIFTH_LEAF]),
    ],
)
def test_consistency_proofs_are_the_published_ones(first, second, proof):
    assert told(Tree(ENTRIES[:second]).consistency_proof(first)) == proof


def _mth(entries):
    """The definition, as RFC 6962 section 2.1 writes it."""
    if len(entries) < 2:
        return leaf_digest(entries[0]) if entries else EMPTY_ROOT
    half = 1
    while half * 2 < len(entries):
        half *= 2
    return node_digest(_mth(entries[:half]), _mth(entries[half:]))


@given(lists)
def test_the_root_is_that_of_the_definition(entries):
    assert Tree(entries).root == _mth(entries)


@given(lists, st.data())
def test_every_entry_is_proved_at_its_place_and_no_other(entries, data):
    tree = Tree(entries)
    index = data.draw(st.integers(0, tree.size - 1))
    path = tree.inclusion_path(index)
    claim = {"index": index, "size": tree.size, "path": path, "root": tree.root}

    assert check_inclusion(entries[index], **claim)
    assert not check_inclusion(entries[index] + b"x", **claim)
    assert not check_inclusion(entries[index], **{**claim, "root": bytes(32)})
    assert not check_inclusion(entries[index], **{**claim, "path": [*path, bytes(32)]})
    assert not check_inclusion(entries[index], **{**claim, "index": -1})
    assert not check_inclusion(entries[index], **{**claim, "index": tree.size})
    if path:
        assert not check_inclusion(entries[index], **{**claim, "path": path[1:]})
        assert not check_inclusion(entries[index], **{**claim, "path": path[:-1]})
        at = data.draw(st.integers(0, len(path) - 1))
        altered = [*path[:at], bytes([path[at][0] ^ 1]) + path[at][1:], *path[at + 1 :]]
        assert not check_inclusion(entries[index], **{**claim, "path": altered})


@given(st.lists(st.binary(max_size=8), min_size=2, max_size=70, unique=True), st.data())
def test_an_entry_is_not_proved_at_another_place(entries, data):
    tree = Tree(entries)
    here, there = data.draw(st.lists(st.integers(0, tree.size - 1), min_size=2, max_size=2, unique=True))

    path = tree.inclusion_path(here)

    assert not check_inclusion(entries[here], index=there, size=tree.size, path=path, root=tree.root)


@given(lists, st.data())
def test_a_longer_tree_is_proved_to_continue_the_shorter(entries, data):
    tree = Tree(entries)
    first = data.draw(st.integers(1, tree.size))
    proof, before = tree.consistency_proof(first), Tree(entries[:first])
    claim = {
        "first": first,
        "second": tree.size,
        "first_root": before.root,
        "second_root": tree.root,
        "proof": proof,
    }

    assert check_consistency(**claim)
    changed = Tree([entries[0] + b"x", *entries[1:first]])
    assert not check_consistency(**{**claim, "first_root": changed.root})
    assert not check_consistency(**{**claim, "second_root": bytes(32)})
    assert not check_consistency(**{**claim, "proof": [*proof, bytes(32)]})
    assert not check_consistency(**{**claim, "first": 0})
    assert not check_consistency(**{**claim, "first": tree.size + 1})
    if proof:
        assert not check_consistency(**{**claim, "proof": proof[:-1]})
        at = data.draw(st.integers(0, len(proof) - 1))
        altered = [*proof[:at], bytes([proof[at][0] ^ 1]) + proof[at][1:], *proof[at + 1 :]]
        assert not check_consistency(**{**claim, "proof": altered})


def test_a_node_does_not_pass_for_an_entry():
    left, right = leaf_digest(b"a"), leaf_digest(b"b")
    tree = Tree([b"a", b"b"])

    assert not check_inclusion(left + right, index=0, size=1, path=[], root=tree.root)


def test_what_is_not_in_the_tree_has_no_proof():
    tree = Tree(ENTRIES[:3])
    for index in (-1, 3):
        with pytest.raises(IndexError):
            tree.inclusion_path(index)
    for first in (0, 4):
        with pytest.raises(ValueError, match="3 entries"):
            tree.consistency_proof(first)
