"""A verifier of Ed25519 that shares no code with the one under test. Slow, and for tests only.

Source: RFC 8032 section 5.1.
"""

import hashlib

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
CURVE = -121665 * pow(121666, -1, PRIME) % PRIME

Point = tuple[int, int]


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether S·B = R + k·A, with k the hash of R, A and the message."""
    point, claimed = _read(public), _read(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or point is None or claimed is None or scalar >= ORDER:
        return False
    factor = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    return _times(scalar, _base()) == _plus(claimed, _times(factor, point))


def _base() -> Point:
    found = _read(int.to_bytes(4 * pow(5, -1, PRIME) % PRIME, 32, "little"))
    assert found is not None
    return found


def _read(text: bytes) -> Point | None:
    """Read a point: y, and the lowest bit of x on top."""
    number = int.from_bytes(text, "little")
    odd, y = number >> 255, number & (2**255 - 1)
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != square:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if y >= PRIME or x * x % PRIME != square:
        return None
    return (PRIME - x if x & 1 != odd else x, y)


def _plus(one: Point, other: Point) -> Point:
    product = CURVE * one[0] * other[0] * one[1] * other[1] % PRIME
    x = (one[0] * other[1] + other[0] * one[1]) * pow(1 + product, -1, PRIME)
    y = (one[1] * other[1] + one[0] * other[0]) * pow(1 - product, -1, PRIME)
    return x % PRIME, y % PRIME


def _times(factor: int, point: Point) -> Point:
    total = (0, 1)
    while factor:
        if factor & 1:
            total = _plus(total, point)
        point, factor = _plus(point, point), factor >> 1
    return total
