"""Contents for the tests of files, and short ways to send them and to let workers look at them."""

import hashlib
import io
import struct
import zipfile
import zlib
from typing import Any
from uuid import UUID

from core.clock import now
from core.crypto import random_text
from core.db import tenant_context
from organizations.models import Quota, Tenant
from suppliers.files import scanning, storing, sweeping
from suppliers.files.models import File, LooseObject
from tests.factories import Api

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><html><script>alert(1)</script></html>"


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack("!I", len(content)) + kind + content + struct.pack("!I", zlib.crc32(kind + content))


def png(text: str = "") -> bytes:
    """Return an image of one pixel; each call makes another content, unless a text is given."""
    head = _chunk(b"IHDR", struct.pack("!IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    told = _chunk(b"tEXt", b"Comment\0" + (text or random_text(16)).encode())
    return b"\x89PNG\r\n\x1a\n" + head + told + _chunk(b"IDAT", zlib.compress(b"\0\0")) + _chunk(b"IEND", b"")


def pdf(filler: int = 0) -> bytes:
    """Return a document, with so many bytes of filler."""
    return b"%PDF-1.7\n%" + random_text(16).encode() + b"x" * filler + b"\ntrailer\n<<>>\n%%EOF\n"


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as found:
        for name, content in members:
            found.writestr(name, content)
    return whole.getvalue()


def workbook(*more: tuple[str, bytes]) -> bytes:
    """Return the smallest workbook, with further members."""
    return archive(("[Content_Types].xml", b"<Types/>"), ("xl/workbook.xml", b"<workbook/>"), *more)


def form(content: bytes, *, name: str | bytes = "front.png", media: str = "", boundary: str = "", **texts: str) -> Any:
    """Return body and content type of a form with one file."""
    mark = (boundary or random_text(20)).encode()
    parts = [
        b'Content-Disposition: form-data; name="%b"\r\n\r\n%b' % (key.encode(), value.encode())
        for key, value in texts.items()
    ]
    raw = name if isinstance(name, bytes) else name.encode()
    typed = b"\r\nContent-Type: " + media.encode() if media else b""
    parts.append(b'Content-Disposition: form-data; name="file"; filename="%b"%b\r\n\r\n%b' % (raw, typed, content))
    body = b"".join(b"--" + mark + b"\r\n" + part + b"\r\n" for part in parts) + b"--" + mark + b"--\r\n"
    return body, f"multipart/form-data; boundary={mark.decode()}"


def send(api: Api, content: bytes, *, purpose: str = "product_image", headers: Any = None, **more: Any) -> Any:
    """Upload a content as a form; return the answer."""
    body, media = form(content, purpose=purpose, **more)
    return api.post("/v1/files", data=body, content_type=media, headers=headers)


def upload(api: Api, content: bytes | None = None, **more: Any) -> dict[str, Any]:
    """Upload a content and return the file."""
    answer = send(api, png() if content is None else content, **more)
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def ready(api: Api, content: bytes | None = None, **more: Any) -> dict[str, Any]:
    """Upload a content, let it pass the scan, and return the file."""
    made = upload(api, content, **more)
    scanning.scan_files(at=now())
    found: dict[str, Any] = api.get(f"/v1/files/{made['id']}").json()["data"]
    assert found["status"] == "ready"
    return found


def announcement(content: bytes, **more: Any) -> dict[str, Any]:
    """Return the body that announces a content."""
    return {
        "name": "front.png",
        "purpose": "product_image",
        "content_type": "image/png",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    } | more


def used(tenant: Tenant) -> int:
    """Return how many bytes of its storage a tenant uses."""
    with tenant_context(tenant.id):
        return int(
            Quota.objects.filter(tenant_id=tenant.id, key="storage_bytes").values_list("used", flat=True).first() or 0
        )


def limit(tenant: Tenant, count: int) -> None:
    """Let a tenant store so many bytes."""
    with tenant_context(tenant.id):
        row, _ = Quota.objects.get_or_create(
            tenant_id=tenant.id, key="storage_bytes", defaults={"period": "none", "period_started": now()}
        )
        row.limit, row.enforcement = count, "hard"
        row.save_version("limit", "enforcement", at=now())


def counts(tenant: Tenant) -> tuple[int, int, int, int]:
    """Return what a refusal must not change: files, loose objects, objects in the store, bytes used."""
    with tenant_context(tenant.id):
        files = File.objects.filter(tenant_id=tenant.id).count()
        loose = LooseObject.objects.filter(tenant_id=tenant.id).count()
    return files, loose, len(objects(tenant.id)), used(tenant)


def objects(tenant_id: UUID) -> set[str]:
    """Return the names of a tenant's objects in the store."""
    store = storing.storages[storing.STORE]
    try:
        return set(store.listdir(str(tenant_id))[1])
    except FileNotFoundError:
        return set()


def sweep(at: Any = None) -> None:
    """Delete what is loose."""
    sweeping.sweep_objects(at=at or now())
