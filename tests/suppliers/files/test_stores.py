"""The stores of files: what STORAGE_URL means, a bucket behind a server that speaks S3, a store that is away."""

import io
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import environ
import pytest
import requests
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from config.stores import store_settings
from core.clock import now
from suppliers.files import scanning, storing, sweeping
from suppliers.files.checks import check_settings
from suppliers.files.refusals import StoreAway
from tests.factories import Api, api_key, provision, suffix
from tests.suppliers.files.samples import announcement, counts, objects, png, ready, send, sweep, upload


def chosen(monkeypatch, url):
    monkeypatch.setenv("STORAGE_URL", url)
    return store_settings(environ.Env(), data_dir=Path("/srv/hp"))["STORAGES"]["files"]


def test_folder_is_the_default_and_can_be_named(monkeypatch):
    assert chosen(monkeypatch, "")["OPTIONS"]["location"] == "/srv/hp/files"
    assert chosen(monkeypatch, "file:///srv/a%20b")["OPTIONS"]["location"] == "/srv/a b"


def test_bucket_is_named_with_its_server(monkeypatch):
    found = chosen(monkeypatch, "s3://KEY:a%2Fb@bucket/some/prefix?region=eu-central-1&endpoint=https://s3.example.org")
    assert found["BACKEND"] == "config.s3_store.S3Store"
    assert found["OPTIONS"] | {"file_overwrite": 0, "default_acl": 0, "signature_version": 0, "addressing_style": 0} == {
        "bucket_name": "bucket", "location": "some/prefix", "region_name": "eu-central-1", "access_key": "KEY",
        "endpoint_url": "https://s3.example.org", "secret_key": "a/b", "file_overwrite": 0, "default_acl": 0,
        "signature_version": 0, "addressing_style": 0,
    }  # fmt: skip
    assert "access_key" not in chosen(monkeypatch, "s3://bucket")["OPTIONS"]


@pytest.mark.parametrize("url", ["ftp://host/x", "s3:///x", "file://host/x", "relative/folder", "s3://b?colour=red"])
def test_other_addresses_are_refused(monkeypatch, url):
    with pytest.raises(ImproperlyConfigured, match="STORAGE_URL"):
        chosen(monkeypatch, url)


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("CLAMAV_URL", "clamav:3310", "suppliers.E001"),
        ("CLAMAV_URL", "http://clamav", "suppliers.E001"),
        ("CLAMAV_URL", "unix://", "suppliers.E001"),
        ("FILES_BASE_URL", "files.example.org", "suppliers.E002"),
    ],
)
def test_settings_that_are_none_are_told(settings, name, value, fault):
    assert check_settings() == []
    setattr(settings, name, value)
    assert [one.id for one in check_settings()] == [fault]


def test_store_is_never_asked_inside_a_transaction():
    with transaction.atomic(), pytest.raises(RuntimeError, match="inside a transaction"):
        storing.size_of("x")


def test_store_that_is_away_is_503_and_what_was_reserved_comes_back(api, supplier, folder):
    folder.write_text("a file stands where the folder should")
    answer = send(api, png())
    assert (answer.status_code, answer.json()["code"]) == (503, "file_store_unavailable")
    assert answer.headers["Retry-After"]
    folder.unlink()
    sweep(now() + timedelta(minutes=16))
    assert counts(supplier) == (0, 0, 0, 0)


def test_objects_that_cannot_be_deleted_now_are_deleted_later(api, supplier, folder):
    made = upload(api)
    api.delete(f"/v1/files/{made['id']}")
    folder.rename(folder.parent / "elsewhere")
    folder.write_text("a file stands where the folder should")
    sweep()
    assert counts_of_rows(supplier) == (0, 1)
    folder.unlink()
    (folder.parent / "elsewhere").rename(folder)
    sweep()
    assert counts(supplier) == (0, 0, 0, 0)


def counts_of_rows(tenant):
    from core.db import tenant_context
    from suppliers.files.models import File, LooseObject

    with tenant_context(tenant.id):
        mine = {"tenant_id": tenant.id}
        return File.objects.filter(**mine).count(), LooseObject.objects.filter(**mine).count()


def test_objects_of_closed_tenants_go(api, supplier):
    other = provision("supplier")
    upload(Api(key=api_key(other), tenant=other))
    kept = upload(api)
    sweeping.sweep_closed()
    assert len(objects(other.id)) == 1
    type(other).objects.filter(pk=other.pk).update(status="offboarding")
    type(other).objects.filter(pk=other.pk).update(status="closed")
    assert sweeping.sweep_closed() == 1
    assert objects(other.id) == set()
    assert len(objects(supplier.id)) == 1
    assert api.get(f"/v1/files/{kept['id']}").status_code == 200


@pytest.fixture
def bucket(monkeypatch, settings):
    """A bucket of a server that speaks S3."""
    pytest.importorskip("moto.server")
    import boto3
    from moto.server import ThreadedMotoServer

    name = f"files-{suffix()}"
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    found = chosen(monkeypatch, f"s3://KEY:SECRET@{name}/prefix?region=us-east-1&endpoint=http://{host}:{port}")
    client = boto3.client(
        "s3", endpoint_url=f"http://{host}:{port}", aws_access_key_id="KEY", aws_secret_access_key="SECRET",
        region_name="us-east-1",
    )  # fmt: skip
    client.create_bucket(Bucket=name)
    settings.STORAGES = {**settings.STORAGES, "files": found}
    yield client, name
    client.close()
    server.stop()


def keys(bucket):
    client, name = bucket
    return sorted(one["Key"] for one in client.list_objects_v2(Bucket=name).get("Contents", []))


def test_bucket_keeps_reads_and_deletes(api, supplier, bucket):
    content = png()
    made = ready(api, content)
    assert keys(bucket) == [f"prefix/{supplier.id}/{made['sha256']}.{made['id']}"]
    answer = Api().client.get(made["content_url"])
    assert b"".join(answer.streaming_content) == content
    answer.close()
    assert objects(supplier.id) == {f"{made['sha256']}.{made['id']}"}
    assert storing.tenants() == {supplier.id}
    api.delete(f"/v1/files/{made['id']}")
    assert Api().client.get(made["content_url"]).status_code == 404
    sweep()
    assert keys(bucket) == []


def test_bucket_takes_an_announced_content_itself(api, supplier, bucket):
    content = png()
    made = api.post("/v1/files", json=announcement(content)).json()["data"]
    target = made["upload"]
    signed = parse_qs(urlsplit(target["url"]).query)["X-Amz-SignedHeaders"]
    assert set(signed[0].split(";")) >= {"content-length", "content-type", "host"}
    scanning.scan_files(at=now())
    assert api.get(f"/v1/files/{made['id']}").json()["data"]["status"] == "awaiting_upload"
    assert requests.put(target["url"], data=content, headers=target["headers"], timeout=10).status_code == 200
    scanning.scan_files(at=now() + timedelta(seconds=10))
    found = api.get(f"/v1/files/{made['id']}").json()["data"]
    assert found["status"] == "ready"
    sweep(now() + timedelta(hours=1))
    assert keys(bucket) == [f"prefix/{supplier.id}/{made['sha256']}.{made['id']}"]


def test_bucket_with_another_content_rejects_the_file(api, bucket):
    content = png("a")
    made = api.post("/v1/files", json=announcement(content)).json()["data"]
    target = made["upload"]
    requests.put(target["url"], data=png("b"), headers=target["headers"], timeout=10)
    scanning.scan_files(at=now() + timedelta(seconds=10))
    assert api.get(f"/v1/files/{made['id']}").json()["data"]["rejection_reason"] == "wrong_content"


def test_bucket_that_is_not_there_is_503(api, supplier, bucket):
    client, name = bucket
    client.delete_bucket(Bucket=name)
    answer = send(api, png())
    assert (answer.status_code, answer.json()["code"]) == (503, "file_store_unavailable")
    with pytest.raises(StoreAway):
        storing.put("x", io.BytesIO(b"x"))
    assert counts_of_rows(supplier)[0] == 0
