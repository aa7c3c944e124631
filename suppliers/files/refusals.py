"""Refusals of files."""

from core.errors import Conflict, Malformed, NotFound, TooLarge, Unavailable


class UnsupportedType(Malformed):
    """The content is of no type that the purpose takes, is not what was declared, or could do harm."""

    code = "unsupported_type"
    title = "Files of this type are not accepted."


class FileTooLarge(TooLarge):
    """The file has more bytes than the platform keeps."""

    code = "file_too_large"
    title = "The file is too large."
    extensions = {"limit_bytes": 20_971_520}


class FileBound(Conflict):
    """The file is bound to something; `bound_to` names the kinds of it."""

    code = "file_bound"
    title = "The file is bound."
    extensions = {"bound_to": ["product"]}


class UploadDiffers(Malformed):
    """The content that was sent has another size than the one that was announced."""

    code = "wrong_size"
    title = "The content has another size than was announced."


class NoSuchContent(NotFound):
    """The link is not one of the platform's, has expired, or the file cannot be read any more."""

    title = "There is no such content."


class StoreAway(Unavailable):
    """The store of files does not answer."""

    code = "file_store_unavailable"
    title = "The store of files is unavailable; try again."
