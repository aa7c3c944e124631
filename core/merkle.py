"""Merkle trees with proofs of inclusion and of consistency, over SHA-256. Source: RFC 6962 section 2.1; RFC 9162 section 2.1.

A path or proof is a list of digests of 32 bytes. Building a tree hashes every entry once; a proof then costs no hash.
"""

import hashlib
import hmac
from collections.abc import Sequence

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_digest(entry: bytes) -> bytes:
    """Return the digest of an entry; its prefix differs from that of a node, so that neither passes for the other."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_digest(left: bytes, right: bytes) -> bytes:
    """Return the digest of two digests."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """The tree over a list of entries."""

    def __init__(self, entries: Sequence[bytes]) -> None:
        self.size = len(entries)
        level = [leaf_digest(entry) for entry in entries]
        self._levels = [level]
        while len(level) > 1:
            pairs = [node_digest(level[n], level[n + 1]) for n in range(0, len(level) - 1, 2)]
            level = pairs + level[len(pairs) * 2 :]  # a last one without a sibling rises as it is
            self._levels.append(level)

    @property
    def root(self) -> bytes:
        """The digest of the whole tree."""
        return self._levels[-1][0] if self.size else EMPTY_ROOT

    def inclusion_path(self, index: int) -> list[bytes]:
        """Return the digests by which the root follows from the entry at `index`, the lowest first.

        :raises IndexError: there is no such entry.
        """
        if not 0 <= index < self.size:
            raise IndexError(f"the tree has {self.size} entries")
        path = []
        for level in self._levels[:-1]:
            if index ^ 1 < len(level):
                path.append(level[index ^ 1])
            index >>= 1
        return path

    def consistency_proof(self, first: int) -> list[bytes]:
        """Return the proof that the first `first` entries are those of the tree that had so many.

        :raises ValueError: `first` is not between 1 and the number of entries.
        """
        if not 1 <= first <= self.size:
            raise ValueError(f"the tree has {self.size} entries")
        proof: list[bytes] = []
        start, end, is_known = 0, self.size, True
        while first != end - start:
            half = 1 << (end - start - 1).bit_length() - 1
            if first <= half:
                proof.append(self._digest_of(start + half, end))
                end = start + half
            else:
                proof.append(self._digest_of(start, start + half))
                start, first, is_known = start + half, first - half, False
        if not is_known:
            proof.append(self._digest_of(start, end))
        return proof[::-1]

    def _digest_of(self, start: int, end: int) -> bytes:
        """Return the digest of a subtree: a full one, or one at the right edge of the tree."""
        height = (end - start - 1).bit_length()
        return self._levels[height][start >> height]


def check_inclusion(entry: bytes, *, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Tell whether a path proves that `entry` is at `index` of the tree of `size` entries with this root.

    Source: RFC 9162 section 2.1.3.2.
    """
    if not 0 <= index < size:
        return False
    sides = _sides(index, size - 1, len(path))
    found = leaf_digest(entry)
    for digest, is_left in zip(path, sides or (), strict=False):
        found = node_digest(digest, found) if is_left else node_digest(found, digest)
    return sides is not None and hmac.compare_digest(found, root)


def check_consistency(
    *, first: int, second: int, first_root: bytes, second_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Tell whether a proof shows that the tree of `second` entries continues the one of `first` entries.

    Source: RFC 9162 section 2.1.4.2.
    """
    if not 1 <= first <= second:
        return False
    if first == second or not proof:
        return first == second and not proof and hmac.compare_digest(first_root, second_root)
    edge = (first ^ (first - 1)).bit_length() - 1  # the height of the full subtree in which the first tree ends
    start, *rest = [first_root, *proof] if first == 1 << edge else proof
    sides = _sides((first - 1) >> edge, (second - 1) >> edge, len(rest))
    older = newer = start
    for digest, is_left in zip(rest, sides or (), strict=False):
        newer = node_digest(digest, newer) if is_left else node_digest(newer, digest)
        older = node_digest(digest, older) if is_left else older
    return sides is not None and hmac.compare_digest(older, first_root) and hmac.compare_digest(newer, second_root)


def _sides(node: int, last: int, count: int) -> list[bool] | None:
    """Tell for each digest on the way up from a node whether it stands at its left; None if there are not `count`.

    :param last: the number of the last node beside it, at the right edge of the tree.
    """
    found = []
    while last:
        if node & 1 or node == last:
            found.append(True)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            found.append(False)
        node, last = node >> 1, last >> 1
    return found if len(found) == count else None
