"""Bodies of files."""

from collections.abc import Mapping
from typing import Any, ClassVar

import orjson
from rest_framework import serializers
from rest_framework.fields import empty

from api.multipart import FilePart
from api.serializers import DateField, StrictSerializer

from .bindings import MOST
from .handing_over import MOST_FILES
from .naming import InvalidName, clean_name
from .states import Purpose, ResourceType, Visibility

_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_BINDING: dict[str, Any] = {"resource_type": "product", "resource_id": _ID, "role": "front", "position": 0}
_POSITION_MAX = 10_000


class NameField(serializers.CharField):
    """The name of a file; of a path its last part is kept, and characters that nobody sees are left out."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=255, trim_whitespace=False, **options)
        self.validators = []  # they would count what is left out

    def to_internal_value(self, data: Any) -> str:
        """Clean the name."""
        try:
            return clean_name(super().to_internal_value(data))
        except InvalidName as error:
            raise serializers.ValidationError(str(error), code="invalid_name") from None


class FileIdsField(serializers.ListField):
    """The own files that a document hands over to its other party, each once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.UUIDField(), max_length=MOST_FILES, **{"required": False, **options})

    def to_internal_value(self, data: Any) -> list[Any]:
        """Refuse a file that is named twice."""
        found = super().to_internal_value(data)
        if len(set(found)) < len(found):
            raise serializers.ValidationError("A file is named twice.", code="duplicate")
        return found


class HandedFileOut(serializers.Serializer[None]):
    """A file that a document hands over, as it was when it was named; `GET /v1/files/{id}` has a link to its content."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    content_type = serializers.CharField()
    size = serializers.IntegerField()
    purpose = serializers.CharField()
    sha256 = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    expires_on = serializers.DateField(allow_null=True)


class BindingIn(StrictSerializer):
    """One thing that a file belongs to."""

    resource_type = serializers.ChoiceField(choices=ResourceType.choices)
    resource_id = serializers.UUIDField(help_text="For `supplier`, the id of the tenant itself.")
    role = serializers.RegexField(
        r"^([a-z0-9][a-z0-9_-]*)?$", max_length=32, required=False, default="", allow_blank=True
    )
    position = serializers.IntegerField(min_value=0, max_value=_POSITION_MAX, default=0)
    language = serializers.RegexField(
        r"^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$", max_length=35, required=False, default="", allow_blank=True
    )

    class Meta:
        example: ClassVar = _BINDING


class BindingList(serializers.ListSerializer[Any]):
    """Bindings; each is a whole one, also in the body of a PATCH, whose own members are all optional."""

    def run_validation(self, data: Any = empty) -> Any:
        """Check them apart from the body around them."""
        if data is empty:
            return super().run_validation(data)
        return serializers.ListSerializer(child=BindingIn(), max_length=MOST).run_validation(data)


class BindingsText(serializers.CharField):
    """Bindings in a form: their JSON as a text."""

    default_error_messages: ClassVar = {"invalid": "This is not a JSON array."}

    def to_internal_value(self, data: Any) -> list[Mapping[str, Any]]:  # type: ignore[override]  # a text becomes a list
        """Read the JSON and check each binding."""
        try:
            found = orjson.loads(data) if isinstance(data, str) else None
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, list):
            self.fail("invalid")
        checked: list[Mapping[str, Any]] = _bindings().run_validation(found)
        return checked


class UploadField(serializers.FileField):
    """The file of a form."""

    def to_internal_value(self, data: Any) -> FilePart:  # type: ignore[override]  # not Django's kind of upload
        """Take the part as it is."""
        if not isinstance(data, FilePart):
            self.fail("invalid")
        return data


def _bindings(**options: Any) -> Any:
    return BindingList(child=BindingIn(), max_length=MOST, **options)


def _title() -> serializers.CharField:
    return serializers.CharField(max_length=255, required=False, allow_blank=True, default="")


class FileFormIn(StrictSerializer):
    """An upload, as the form that a browser sends; `name` stands for the name that the file has there."""

    file = UploadField()
    purpose = serializers.ChoiceField(choices=Purpose.choices)
    name = NameField(required=False)
    title = _title()
    visibility = serializers.ChoiceField(choices=Visibility.choices, default=Visibility.PRIVATE.value)
    expires_on = DateField(required=False, allow_null=True, default=None)
    bindings = BindingsText(
        required=False,
        default=list,  # type: ignore[arg-type]  # what a text becomes
        help_text="A JSON array of bindings, as `bindings` of the JSON body.",
    )

    class Meta:
        example: ClassVar = {"purpose": "product_image", "title": "Front", "file": "(the content)"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the file's own name where no other is given."""
        if "name" not in attrs:
            try:
                attrs["name"] = clean_name(attrs["file"].file_name)
            except InvalidName as error:
                told = serializers.ErrorDetail(str(error), code="invalid_name")
                raise serializers.ValidationError({"file": [told]}) from None
        return attrs


class FileIn(StrictSerializer):
    """A content that the client sends by itself, to the address that the answer names."""

    name = NameField()
    purpose = serializers.ChoiceField(choices=Purpose.choices)
    content_type = serializers.CharField(max_length=80)
    size = serializers.IntegerField(min_value=1, max_value=2**53, help_text="In bytes; at most 20 MiB.")
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}$", help_text="Of the content, in hexadecimal.")
    title = _title()
    visibility = serializers.ChoiceField(choices=Visibility.choices, default=Visibility.PRIVATE.value)
    expires_on = DateField(required=False, allow_null=True, default=None)
    bindings: Any = _bindings(required=False, default=list)

    class Meta:
        example: ClassVar = {
            "name": "front.png",
            "purpose": "product_image",
            "content_type": "image/png",
            "size": 48_213,
            "sha256": _SHA256,
        }

    def validate_content_type(self, value: str) -> str:
        """Compare types in small letters, without parameters."""
        return value.partition(";")[0].strip().lower()


class FilePatchIn(StrictSerializer):
    """What can be said of a file anew; `bindings` replaces all of them."""

    title = _title()
    visibility = serializers.ChoiceField(choices=Visibility.choices, required=False)
    expires_on = DateField(required=False, allow_null=True)
    bindings: Any = _bindings(required=False)

    class Meta:
        example: ClassVar = {"title": "Front", "bindings": [_BINDING]}
