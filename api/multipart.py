"""Multipart bodies: the texts and files of a form, read from the stream once and kept on disk. Source: RFC 7578.

The digest of a form stands for its body in the fingerprint of a write, because each client draws a new boundary.
"""

import hashlib
import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from core.errors import Malformed

from .body import LIMIT_BYTES
from .transport import MULTIPART

MOST_PARTS = 20
MOST_TEXT = 65_536

_HELD = "multipart_form"


class InvalidMultipart(Malformed):
    """The body is not a multipart form that the platform reads."""

    code = "invalid_multipart"
    title = "The body is not a readable multipart form."


@dataclass(frozen=True, slots=True)
class FilePart:
    """One file of a form: its content is `size` bytes of `file`; name and type are what the client said."""

    name: str
    file_name: str
    content_type: str
    size: int
    sha256: str
    file: IO[bytes]


class Form:
    """The parts of a form, in their order: texts, then files."""

    def __init__(self, texts: list[tuple[str, str]], files: list[FilePart]) -> None:
        self.texts, self.files = texts, files

    def members(self) -> dict[str, Any]:
        """Return text or file by name, as serializers take them.

        :raises InvalidMultipart: a name occurs twice.
        """
        found: dict[str, Any] = {}
        for name, value in [*self.texts, *((part.name, part) for part in self.files)]:
            if name in found:
                raise InvalidMultipart(f"The part {name[:64]!a} occurs twice.")
            found[name] = value
        return found

    def digest(self) -> str:
        """Return the SHA-256 (hex) over name, file name, type and SHA-256 of each part."""
        whole = hashlib.sha256()
        for fields in self._fields():
            for field in fields:
                text = field.encode(errors="surrogatepass")
                whole.update(b"%d:" % len(text) + text)
        return whole.hexdigest()

    def _fields(self) -> Iterator[tuple[str, str, str, str]]:
        for name, value in self.texts:
            yield name, "", "", hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()
        for part in self.files:
            yield part.name, part.file_name, part.content_type, part.sha256

    def close(self) -> None:
        """Give the contents up."""
        for part in self.files:
            part.file.close()


def is_multipart(request: HttpRequest) -> bool:
    """Tell whether the body is said to be a form."""
    return (request.content_type or "").lower() == MULTIPART


def form_of(request: HttpRequest) -> Form:
    """Return the form of a request; its stream is read by the first call.

    :raises InvalidMultipart: the body is no form, or has too many parts or too much text.
    """
    held = getattr(request, _HELD, None)
    if held is None:
        try:
            held = _read(request)
        except InvalidMultipart as error:
            held = error
        setattr(request, _HELD, held)
    if isinstance(held, InvalidMultipart):
        raise held
    found: Form = held
    return found


def close(request: HttpRequest) -> None:
    """Give up the contents of a request's form, if it was read."""
    held = getattr(request, _HELD, None)
    if isinstance(held, Form):
        held.close()


def _read(request: HttpRequest) -> Form:
    keeper = _Keeper()
    announced = request.META.get("CONTENT_LENGTH") or ""
    small = announced.isdigit() and int(announced) <= LIMIT_BYTES
    stream: Any = io.BytesIO(request.body) if small else request
    try:
        texts, _ = _Parser(request.META, stream, [keeper], "utf-8").parse()
    except InvalidMultipart:
        keeper.close()
        raise
    except (MultiPartParserError, BadRequest, SuspiciousOperation, ValueError) as error:
        keeper.close()
        raise InvalidMultipart(str(error)[:200]) from None
    form = Form([(name, value) for name, values in texts.lists() for value in values], keeper.parts)
    keeper.file.close()
    try:
        _check(form)
    except InvalidMultipart:
        form.close()
        raise
    return form


def _check(form: Form) -> None:
    if len(form.texts) + len(form.files) > MOST_PARTS:
        raise InvalidMultipart(f"A form has at most {MOST_PARTS} parts.")
    if sum(len(name) + len(value) for name, value in form.texts) > MOST_TEXT:
        raise InvalidMultipart(f"The texts of a form have at most {MOST_TEXT} characters.")


class _Parser(MultiPartParser):
    """Django's parser, which leaves the names of files as they were sent: whoever stores a file cleans its name."""

    def sanitize_file_name(self, file_name: str) -> str:
        return file_name


class _Keeper(FileUploadHandler):
    """Keeps the content of each file in a temporary file, and digests it meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[FilePart] = []
        self.file: IO[bytes] = io.BytesIO()
        self.hash = hashlib.sha256()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file."""
        super().new_file(*args, **kwargs)
        if len(self.parts) >= MOST_PARTS:
            raise InvalidMultipart(f"A form has at most {MOST_PARTS} parts.")
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  # `close` closes it
        self.hash = hashlib.sha256()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Keep a piece; no other handler gets it."""
        self.hash.update(raw_data)
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> Any:
        """End the file."""
        self.file.seek(0)
        part = FilePart(
            name=str(self.field_name),
            file_name=str(self.file_name),
            content_type=str(self.content_type or "").lower(),
            size=file_size,
            sha256=self.hash.hexdigest(),
            file=self.file,
        )
        self.parts.append(part)
        self.file = io.BytesIO()
        return None

    def upload_interrupted(self) -> None:
        """Give up a file that has no end."""
        self.file.close()

    def close(self) -> None:
        """Give everything up."""
        self.file.close()
        for part in self.parts:
            part.file.close()
