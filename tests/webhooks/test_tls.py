"""Deliveries over TLS to a receiver on this machine, with a certificate authority of the tests' own."""

import datetime as dt
import socket
import ssl

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bench.receiver import Receiver
from core.clock import now
from tests.core.test_receiver_zoo import zoo
from tests.webhooks.worlds import drain

HOST = "hooks.example.com"
DAY = dt.timedelta(days=1)


class Authority:
    """Signs certificates, and is believed by whoever is given its `file`."""

    def __init__(self, folder, name="Tests"):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = _name(name)
        self.certificate = self._sign(self.name, self.key, authority=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def tls(self, *hosts, since=-DAY, until=DAY, self_signed=False, common_name=HOST):
        """Return a server's context with a certificate of these names and this time."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.DNSName(host) for host in hosts]
        signer = (_name(common_name), key) if self_signed else (self.name, self.key)
        made = self._sign(_name(common_name), key, names=names, since=since, until=until, signer=signer)
        file = self.folder / f"{made.serial_number}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _sign(self, subject, key, *, names=(), since=-DAY, until=DAY, signer=None, authority=False):
        issuer, private = signer or (self.name, self.key)
        built = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now() + since)
            .not_valid_after(now() + until)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if names:
            built = built.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return built.sign(private, hashes.SHA256())


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@pytest.fixture
def authority(tmp_path, settings, names):
    """The only authority that the platform believes; the receiver's name leads to the loopback."""
    made = Authority(tmp_path)
    settings.WEBHOOKS_CA_FILE = str(made.file)
    names.known[HOST] = ["127.0.0.1"]
    return made


def deliver(world, port, host=HOST):
    """Deliver one event there and return what became of it."""
    endpoint = world.endpoint(f"https://{host}:{port}/hook", events=["product.*"])
    world.record()
    drain()
    (delivery,) = world.deliveries(endpoint)
    return endpoint, delivery


def shown(delivery):
    (attempt,) = delivery["attempt_log"]
    return delivery["state"], attempt["status"], attempt["error"]


@pytest.mark.parametrize("name", [HOST, "*.example.com"])
def test_delivery_over_tls(world, authority, name):
    with Receiver(tls=authority.tls(name)) as receiver:
        endpoint, delivery = deliver(world, receiver.port)
    assert shown(delivery) == ("delivered", 200, None)
    (arrival,) = receiver.received
    assert arrival.verified_by([endpoint["secret"]])
    assert set(delivery["attempt_log"][0]["timings"]) == {"dns_ms", "connect_ms", "tls_ms", "ttfb_ms"}
    assert delivery["attempt_log"][0]["remote_ip"] == "127.0.0.1"
    assert arrival.headers["host"] == f"{HOST}:{receiver.port}"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ({"hosts": ["other.example.com"]}, "certificate_of_other_name"),
        ({"hosts": ["example.com"]}, "certificate_of_other_name"),
        ({"hosts": ["*.hooks.example.com"]}, "certificate_of_other_name"),
        ({"hosts": []}, "certificate_of_other_name"),
        ({"hosts": [HOST], "until": -DAY / 2}, "certificate_expired"),
        ({"hosts": [HOST], "since": DAY / 2}, "certificate_expired"),
        ({"hosts": [HOST], "self_signed": True}, "certificate_untrusted"),
    ],
    ids=["other name", "parent", "child", "common name only", "expired", "not yet valid", "self-signed"],
)
def test_receiver_that_cannot_prove_who_it_is_gets_nothing(world, authority, kind, error):
    hosts = kind.pop("hosts")
    with Receiver(tls=authority.tls(*hosts, **kind)) as receiver:
        _, delivery = deliver(world, receiver.port)
    assert shown(delivery) == ("retrying", None, error)
    assert receiver.received == []


def test_receiver_of_a_foreign_authority_gets_nothing(world, authority, tmp_path):
    with Receiver(tls=Authority(tmp_path, "Strangers").tls(HOST)) as receiver:
        _, delivery = deliver(world, receiver.port)
    assert shown(delivery) == ("retrying", None, "certificate_untrusted")
    assert receiver.received == []


def test_own_authority_is_not_believed_unless_it_is_named(world, authority, settings):
    settings.WEBHOOKS_CA_FILE = ""
    with Receiver(tls=authority.tls(HOST)) as receiver:
        _, delivery = deliver(world, receiver.port)
    assert shown(delivery) == ("retrying", None, "certificate_untrusted")
    assert receiver.received == []


def test_address_is_no_name(world, authority):
    """A literal is compared with the addresses of a certificate, never with its names."""
    with Receiver(tls=authority.tls(HOST)) as receiver:
        _, delivery = deliver(world, receiver.port, "127.0.0.1")
    assert shown(delivery) == ("retrying", None, "certificate_of_other_name")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_receiver_of_an_old_tls_gets_nothing(world, authority, version):
    context = authority.tls(HOST)
    weaken(context, version)
    with Receiver(tls=context) as receiver:
        if not speaks(receiver.port, authority, version):
            pytest.skip("this OpenSSL has no TLS before 1.2")
        _, delivery = deliver(world, receiver.port)
    assert shown(delivery) == ("retrying", None, "tls_failed")
    assert receiver.received == []


def weaken(context, version):
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version


def speaks(port, authority, version):
    """Tell whether an old client is served: else the refusal would be nobody's merit."""
    client = ssl.create_default_context(cafile=authority.file)
    weaken(client, version)
    try:
        with (
            socket.create_connection(("127.0.0.1", port)) as line,
            client.wrap_socket(line, server_hostname=HOST) as wrapped,
        ):
            return wrapped.version() in ("TLSv1", "TLSv1.1")
    except ssl.SSLError:
        return False


def test_receiver_without_tls_gets_nothing(world, authority):
    heard = []

    def behave(handler):
        heard.append(handler.request.recv(65536))
        handler.say(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")

    with zoo(behave) as server:
        _, delivery = deliver(world, server.server_address[1])
    assert [b"webhook" in found for found in heard] == [False]
    assert shown(delivery) == ("retrying", None, "tls_failed")


def test_mended_certificate_gets_what_was_kept(world, authority):
    with Receiver(tls=authority.tls(HOST, until=-DAY / 2)) as receiver:
        endpoint, delivery = deliver(world, receiver.port)
    assert shown(delivery)[0] == "retrying"
    with Receiver(port=receiver.port, tls=authority.tls(HOST)) as mended:
        world.make_due()
        drain()
    (delivery,) = world.deliveries(endpoint)
    assert delivery["state"] == "delivered"
    assert [attempt["error"] for attempt in delivery["attempt_log"]] == ["certificate_expired", None]
    assert len(mended.received) == 1
