"""A Merkle tree that only grows, of which the digests of whole subtrees are kept: what new leaves add, and what a proof needs.

A node is named by level and place: node (k, n) is the subtree over the leaves n * 2^k up to (n + 1) * 2^k. What lies at the
right edge of the tree is made of several such nodes. Source: RFC 6962 section 2.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from core.merkle import EMPTY_ROOT, leaf_digest, node_digest

Node = tuple[int, int]


class Span(NamedTuple):
    """Leaves of which a proof shows one digest: from `start` up to, not including, `end`."""

    start: int
    end: int


def edge(size: int) -> list[Node]:
    """Return the nodes that a tree of this size is made of, from left to right."""
    return nodes_of(Span(0, size))


def nodes_of(span: Span) -> list[Node]:
    """Return the nodes that a span is made of, the largest first; its start is a multiple of the largest."""
    found, start = [], span.start
    while start < span.end:
        level = (span.end - start).bit_length() - 1
        found.append((level, start >> level))
        start += 1 << level
    return found


def digest_of(span: Span, nodes: Mapping[Node, bytes]) -> bytes:
    """Return the digest of a span.

    :raises KeyError: a node is missing.
    """
    *others, found = (nodes[one] for one in nodes_of(span))
    for left in reversed(others):
        found = node_digest(left, found)
    return found


def root_of(size: int, nodes: Mapping[Node, bytes]) -> bytes:
    """Return the root of the tree of this size.

    :raises KeyError: a node of `edge(size)` is missing.
    """
    return digest_of(Span(0, size), nodes) if size else EMPTY_ROOT


def grow(size: int, nodes: Mapping[Node, bytes], entries: Sequence[bytes]) -> dict[Node, bytes]:
    """Return the nodes that come to be when entries are added to a tree of `size` leaves.

    :param nodes: those of `edge(size)`.
    """
    made: dict[Node, bytes] = {(0, size + n): leaf_digest(entry) for n, entry in enumerate(entries)}
    end, level = size + len(entries), 0
    while end >> (level + 1):
        for place in range(size >> (level + 1), end >> (level + 1)):
            left, right = (level, 2 * place), (level, 2 * place + 1)
            made[level + 1, place] = node_digest(made.get(left) or nodes[left], made[right])
        level += 1
    return made


def inclusion_spans(index: int, size: int) -> Iterator[Span]:
    """Yield the spans whose digests prove a leaf, as `core.merkle.Tree.inclusion_path` does."""
    level = 0
    while 1 << level < size:
        beside = (index >> level) ^ 1
        if beside << level < size:
            yield Span(beside << level, min(beside + 1 << level, size))
        level += 1


def consistency_spans(first: int, size: int) -> list[Span]:
    """Return the spans whose digests prove that a tree continues one of `first` leaves. Source: RFC 6962 section 2.1.2."""
    found: list[Span] = []
    start, end, is_known = 0, size, True
    while first != end - start:
        half = 1 << (end - start - 1).bit_length() - 1
        if first <= half:
            found.append(Span(start + half, end))
            end = start + half
        else:
            found.append(Span(start, start + half))
            start, first, is_known = start + half, first - half, False
    return (found if is_known else [*found, Span(start, end)])[::-1]
