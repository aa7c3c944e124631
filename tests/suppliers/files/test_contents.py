"""What a file is decides its content: disguised types, documents that browsers run, archives that grow, names."""

import gzip
import io
import json
import zipfile

import pytest

from suppliers.files.contents import archives
from suppliers.files.contents.kinds import ACCEPTED
from suppliers.files.contents.recognising import recognise
from suppliers.files.naming import InvalidName, clean_name
from suppliers.files.refusals import UnsupportedType
from suppliers.files.states import MOST_BYTES, Purpose
from tests.suppliers.files.samples import (
    HTML,
    SVG,
    XLSX,
    archive,
    counts,
    form,
    objects,
    pdf,
    png,
    send,
    workbook,
)

JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF" + b"\0" * 40 + b"\xff\xd9"
GIF = b"GIF89a" + b"\1\0\1\0\0\0\0" + b";"
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L" + b"\0" * 20
XML = b'<?xml version="1.0"?><Invoice xmlns="urn:example"><ID>1</ID></Invoice>'


@pytest.mark.parametrize(
    ("content", "name", "declared", "purpose", "media"),
    [
        (png("a"), "a.png", "image/png", "product_image", "image/png"),
        (JPEG, "a.jpeg", "image/jpg", "certificate", "image/jpeg"),
        (GIF, "a.gif", "", "product_image", "image/gif"),
        (WEBP, "a.webp", "application/octet-stream", "product_image", "image/webp"),
        (pdf(), "a.PDF", "application/pdf", "safety_sheet", "application/pdf"),
        (b"a;b\n1;\xe4\n", "a.csv", "application/vnd.ms-excel", "report", "text/csv"),
        (b"a,b\n", "a.csv", "text/plain", "report", "text/csv"),
        (b"plain", "notes", "", "message", "text/plain"),
        (XML, "a.xml", "text/xml", "invoice", "application/xml"),
        (b'\n{"a": 1}\n', "a.json", "application/json", "report", "application/json"),
        (workbook(), "a.xlsx", XLSX, "report", XLSX),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else None,  # contents are random
)
def test_type_is_recognised(content, name, declared, purpose, media):
    file = io.BytesIO(content)
    assert recognise(file, name=name, declared=declared, purpose=purpose) == media
    assert file.tell() == 0


def test_every_purpose_takes_some_type():
    assert set(ACCEPTED) == set(Purpose.values)
    assert all(ACCEPTED.values())


DISGUISED = {
    "a document as an image": (pdf(), "a.png", "image/png", "product_image"),
    "an image as a document": (png("b"), "a.pdf", "application/pdf", "certificate"),
    "an image under a document's name": (png("b"), "a.pdf", "", "product_document"),
    "a type that the purpose does not take": (pdf(), "a.pdf", "application/pdf", "product_image"),
    "a program": (b"MZ\x90\0\3\0\0\0", "a.exe", "application/octet-stream", "message"),
    "a program as an image": (b"MZ\x90\0\3\0\0\0", "a.png", "image/png", "product_image"),
    "a program as a text": (b"\x7fELF\2\1\1\0", "a.txt", "text/plain", "message"),
    "a document under a program's name": (pdf(), "a.exe", "", "message"),
    "an image that is cut off": (png("c")[:-12], "a.png", "image/png", "product_image"),
    "SVG": (SVG, "a.svg", "image/svg+xml", "product_image"),
    "SVG as an image": (SVG, "a.png", "image/png", "product_image"),
    "SVG as XML": (SVG, "a.xml", "application/xml", "invoice"),
    "SVG as a text": (b"\xef\xbb\xbf \n" + SVG, "a.txt", "text/plain", "message"),
    "SVG inside XML": (b"<a>" + SVG + b"</a>", "a.xml", "text/xml", "invoice"),
    "HTML": (HTML, "a.html", "text/html", "message"),
    "HTML as a text": (HTML, "a.txt", "text/plain", "message"),
    "HTML as CSV": (b"a,b\n<script>alert(1)</script>", "a.csv", "text/csv", "report"),
    "HTML as JSON": (HTML, "a.json", "application/json", "report"),
    "XHTML as XML": (b'<x xmlns="http://www.w3.org/1999/xhtml"/>', "a.xml", "text/xml", "invoice"),
    "XML with entities": (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "a.xml", "text/xml", "invoice"),
    "XML from elsewhere": (b'<!DOCTYPE a SYSTEM "http://127.0.0.1/x"><a/>', "a.xml", "text/xml", "invoice"),
    "XML with a stylesheet": (b'<?xml-stylesheet href="x.xsl"?><a/>', "a.xml", "text/xml", "invoice"),
    "XML with a fault": (b"<a><b></a>", "a.xml", "text/xml", "invoice"),
    "a text that is no JSON": (b"hello", "a.json", "application/json", "report"),
    "an archive": (archive(("a.txt", b"a")), "a.zip", "application/zip", "report"),
    "an archive as a workbook": (archive(("a.txt", b"a")), "a.xlsx", XLSX, "report"),
    "a packed text": (gzip.compress(b"a"), "a.csv", "text/csv", "report"),
    "a workbook with a macro": (workbook(("xl/vbaProject.bin", b"x")), "a.xlsx", XLSX, "report"),
    "a workbook with an archive": (workbook(("xl/embeddings/a.zip", b"x")), "a.xlsx", XLSX, "report"),
    "a workbook with a way out": (workbook(("../../etc/passwd", b"x")), "a.xlsx", XLSX, "report"),
    "half a workbook": (workbook()[:60], "a.xlsx", XLSX, "report"),
}


@pytest.mark.parametrize("kind", DISGUISED)
def test_disguised_content_is_refused_and_nothing_is_kept(api, supplier, kind):
    content, name, media, purpose = DISGUISED[kind]
    answer = send(api, content, name=name, media=media, purpose=purpose)
    assert (answer.status_code, answer.json()["code"]) == (400, "unsupported_type"), answer.content
    assert counts(supplier) == (0, 0, 0, 0)


def refused_archive(content):
    with pytest.raises(UnsupportedType) as caught:
        archives.check_workbook(io.BytesIO(content))
    return str(caught.value)


def test_archive_that_grows_is_refused():
    member = b"\0" * (archives.MOST_UNPACKED // 4)
    bomb = workbook(*((f"xl/sheet{number}.xml", member) for number in range(5)))
    assert len(bomb) < MOST_BYTES // 20
    assert "grows" in refused_archive(bomb)


def test_archive_that_lies_about_its_size_is_refused():
    """What the directory says is smaller than what comes out."""
    bomb = bytearray(workbook(("xl/sheet1.xml", b"\0" * (archives.MOST_UNPACKED + 1))))
    whole = zipfile.ZipFile(io.BytesIO(bytes(bomb))).getinfo("xl/sheet1.xml")
    bomb = bomb.replace(whole.file_size.to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert refused_archive(bytes(bomb))


def test_archive_of_very_many_members_is_refused():
    many = workbook(*((f"xl/{number}.xml", b"") for number in range(archives.MOST_MEMBERS)))
    assert "too many" in refused_archive(many)


def test_archive_that_nobody_can_look_into_is_refused():
    locked = bytearray(workbook(("xl/a.xml", b"abc")))
    first, directory = locked.index(b"PK\x03\x04"), locked.index(b"PK\x01\x02")
    locked[first + 6] |= 1
    locked[directory + 8] |= 1
    assert "encrypted" in refused_archive(bytes(locked))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.png", "passwd.png"),
        ("C:\\Users\\x\\front.png", "front.png"),
        ("/abs/front.png", "front.png"),
        ("fr\0ont.png", "front.png"),
        ("front\u202egnp.png", "frontgnp.png"),
        ("\u2066front\u2069.png\u200f", "front.png"),
        ("a\r\nSet-Cookie: x.png", "aSet-Cookie: x.png"),
        ("  .front.png. ", "front.png"),
        ("Über uns 1.png", "Über uns 1.png"),
        ("u\u0308.png", "ü.png"),
    ],
)
def test_names_are_cleaned(given, kept):
    assert clean_name(given) == kept


@pytest.mark.parametrize("given", ["", "..", "a/..", "\0\u202e", " . ", "x" * 256])
def test_names_of_which_nothing_is_left_or_too_much_are_refused(given):
    with pytest.raises(InvalidName):
        clean_name(given)


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b"../../etc/front.png", "front.png"),
        (b"fr\0ont.png", "front.png"),
        ("front\u202e.png".encode(), "front.png"),
        (b"x" * 251 + b".png", "x" * 251 + ".png"),
    ],
)
def test_name_of_an_uploaded_file_is_cleaned(api, raw, kept):
    answer = send(api, png(), name=raw)
    assert answer.status_code == 201, answer.content
    assert answer.json()["data"]["name"] == kept


def test_name_of_more_than_255_characters_is_400(api, supplier):
    for answer in (send(api, png(), name=b"x" * 252 + b".png"), send(api, png(), name="/.."), send(api, png(), name="a.png", title="t" * 256)):  # fmt: skip
        assert answer.status_code == 400, answer.content
    assert counts(supplier) == (0, 0, 0, 0)


def test_one_byte_more_than_the_bound_is_413(api, supplier):
    answer = send(api, pdf(MOST_BYTES), purpose="certificate", name="a.pdf")
    assert (answer.status_code, answer.json()["code"], answer.json()["limit_bytes"]) == (
        413,
        "file_too_large",
        MOST_BYTES,
    )
    assert counts(supplier) == (0, 0, 0, 0)


def test_the_bound_itself_is_kept(api, supplier):
    filler = MOST_BYTES - len(pdf())
    answer = send(api, pdf(filler), purpose="certificate", name="a.pdf")
    assert answer.status_code == 201, answer.content
    assert answer.json()["data"]["size"] == MOST_BYTES
    assert len(objects(supplier.id)) == 1


@pytest.mark.parametrize(
    "broken",
    [
        "no file",
        "no purpose",
        "unknown purpose",
        "unknown part",
        "file as text",
        "text as file",
        "twice",
        "empty",
        "cut off",
    ],
)
def test_form_that_is_none_is_400(api, supplier, broken):
    content = png()
    body, media = form(content, purpose="product_image", boundary="mark")
    if broken == "no file":
        body = body[: body.index(b'--mark\r\nContent-Disposition: form-data; name="file"')] + b"--mark--\r\n"
    elif broken == "no purpose":
        body, media = form(content, boundary="mark")
    elif broken == "unknown purpose":
        body, media = form(content, purpose="fun")
    elif broken == "unknown part":
        body, media = form(content, purpose="product_image", colour="red")
    elif broken == "file as text":
        body = b'--mark\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n' + b"--mark--\r\n"
    elif broken == "text as file":
        body = body.replace(b'name="purpose"', b'name="purpose"; filename="a"')
    elif broken == "twice":
        body = body.replace(b"--mark--\r\n", b"") + body
    elif broken == "empty":
        body, media = form(b"", purpose="product_image")
    else:
        body = b"--mark\r\nContent-Disposition: fo"
    answer = api.post("/v1/files", data=body, content_type=media)
    assert answer.status_code == 400, answer.content
    assert answer.json()["code"] in {"validation_error", "invalid_multipart", "unsupported_type", "unknown_field"}
    assert counts(supplier) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    "media", ["multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=a"]
)
def test_form_without_a_boundary_is_refused(api, supplier, media):
    body, _ = form(png(), purpose="product_image")
    answer = api.post("/v1/files", data=body, content_type=media, headers={"Idempotency-Key": "k"})
    assert answer.status_code in (400, 415), answer.content
    assert counts(supplier) == (0, 0, 0, 0)


def test_form_sent_elsewhere_is_415(api):
    body, media = form(png(), purpose="product_image")
    answer = api.post("/v1/categories", data=body, content_type=media, headers={"Idempotency-Key": "k"})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_texts_of_a_form_are_bounded(api, supplier):
    answer = send(api, png(), bindings=json.dumps(["x" * 70_000]))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_multipart")
    many = send(api, png(), **{f"part{number}": "x" for number in range(30)})
    assert (many.status_code, many.json()["code"]) == (400, "invalid_multipart")
    assert counts(supplier) == (0, 0, 0, 0)
