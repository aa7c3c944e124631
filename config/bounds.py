"""How many bytes a request body may have, by address; the front enforces it before Django sees the request."""

MEBIBYTE = 1_048_576
DEFAULT_BYTES = MEBIBYTE
_EXACT = {
    "/v1/products/bulk": 5 * MEBIBYTE,
    "/fhir/R4": 10 * MEBIBYTE,
    "/fhir/R4/": 10 * MEBIBYTE,
    "/v1/files": 20 * MEBIBYTE + 65_536,  # the parts of a multipart body have heads of their own
}


def body_limit(path: str) -> int:
    """Return the most bytes a body sent to this path may have."""
    return _EXACT.get(path, DEFAULT_BYTES)
