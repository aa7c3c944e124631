"""The numbers of a page list: `page` and `limit`."""

from core.errors import Malformed


class InvalidPage(Malformed):
    """`page` or `limit` is not a positive integer."""

    code = "invalid_page"
    title = "page and limit must be positive integers."


def positive(text: str | None, default: int, *, most: int | None = None) -> int:
    """Read `page` or `limit`; a value above `most` counts as `most`.

    :raises InvalidPage: the text is not a positive integer.
    """
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or int(text) < 1:
        raise InvalidPage(f"{text[:32]!r} is not a positive integer.")
    return min(int(text), most) if most else int(text)
