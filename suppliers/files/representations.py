"""Files as their tenant reads them."""

from rest_framework import serializers

from api.representations import Computed, Representation
from core.conditions import TENANT

from .models import File, FileBinding
from .report_rights import NEEDED
from .serializers import BindingIn, FileIn

# A link holds for five minutes and is made anew for each answer. So that 304 never confirms one that is about to end, the tag
# of a ready file changes each minute.
_MINUTE = "CASE WHEN t.status = 'ready' THEN (extract(epoch FROM now())::bigint / 60)::text END"
# Which content the view makes a link to.
LINKED = "CASE WHEN t.status = 'ready' THEN t.tenant_id::text || '/' || t.id::text END"
# For the owner's people the scope that the content needs stands behind the file.
READABLE = f"{LINKED} || coalesce('/' || {NEEDED}, '')"


class FileBindingOut(Representation):
    """One thing that a file belongs to."""

    class Meta:
        model = FileBinding
        fields = ("resource_type", "resource_id", "role", "position", "language")
        blank_as_null = ("role", "language")
        example = BindingIn.Meta.example


class UploadOut(serializers.Serializer[None]):
    """Where the client sends the content."""

    method = serializers.ChoiceField(choices=["PUT"])
    url = serializers.URLField()
    headers = serializers.DictField(child=serializers.CharField())
    expires_at = serializers.DateTimeField()


class FileOut(Representation):
    """A file. Its content is read at `content_url`, without a credential and for five minutes."""

    bindings = FileBindingOut(many=True, by="file", ordering=("position", "id"))
    content_url = Computed(
        READABLE,
        serializers.URLField(
            allow_null=True,
            help_text="Null unless the file is ready. Holds for five minutes. The file of a report: null without the scope of its data.",
        ),
    )
    upload = UploadOut(allow_null=True)

    class Meta:
        model = File
        fields = (
            "id", "name", "purpose", "status", "rejection_reason", "content_type", "size", "sha256", "title", "visibility",
            "expires_on", "bindings", "content_url", "upload", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("title", "rejection_reason")
        revealed = ("upload",)
        unversioned = _MINUTE
        example = {
            **{name: FileIn.Meta.example[name] for name in ("name", "purpose", "content_type", "size", "sha256")},
            "status": "ready",
            "rejection_reason": None,
            "content_url": "https://files.example.org/v1/files/content/hpf_2026-a",
        }


class MediaOut(serializers.Serializer[None]):
    """An image that is bound to something; `GET /v1/files/{id}` of the file has a link to the content."""

    file_id = serializers.UUIDField()
    role = serializers.CharField(allow_null=True)
    position = serializers.IntegerField()
    language = serializers.CharField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    content_type = serializers.CharField()


def media_of(resource_type: str) -> Computed:
    """Return the member with the images that are bound to a row `t`, those alone that are ready, by position."""
    return Computed(
        "SELECT coalesce(json_agg(json_build_object('file_id', f.id, 'role', nullif(b.role, ''), 'position', b.position,"
        " 'language', nullif(b.language, ''), 'title', nullif(f.title, ''), 'content_type', f.content_type)"
        f" ORDER BY b.position, b.id), '[]') {_media(resource_type)}",
        MediaOut(many=True),
    )


def media_tag(resource_type: str) -> str:
    """Return SQL for a text that changes with the media of a row `t`, null for none: they have no part in its version."""
    return f"(SELECT left(md5(string_agg(b.id::text || f.version, ',' ORDER BY b.position, b.id)), 12) {_media(resource_type)})"


def _media(resource_type: str) -> str:
    return (
        "FROM suppliers_filebinding b"
        f" JOIN suppliers_file f ON f.tenant_id = b.tenant_id AND f.id = b.file_id AND f.tenant_id = {TENANT}"
        f" WHERE b.tenant_id = {TENANT} AND b.resource_id = t.id AND b.resource_type = '{resource_type}'"
        " AND f.status = 'ready' AND f.content_type LIKE 'image/%'"
    )
