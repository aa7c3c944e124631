"""The size limits of request bodies by path; the HTTP front enforces them before Django sees the request."""

MEBIBYTE = 1_048_576
DEFAULT_BYTES = MEBIBYTE
_EXACT = {
    "/v1/products/bulk": 5 * MEBIBYTE,
    "/fhir/R4": 10 * MEBIBYTE,
    "/fhir/R4/": 10 * MEBIBYTE,
    "/v1/files": 20 * MEBIBYTE + 65_536,  # the parts of a multipart body have their own headers
}


def body_limit(path: str) -> int:
    """Return the maximum size in bytes of a body sent to this path."""
    return _EXACT.get(path, DEFAULT_BYTES)
