"""Which statements sessions keep prepared: what the code fixes for good, what requests compose only while it is in use."""

from django.db import connection

from core.pipeline import COMPOSED_AT_MOST, Call, Statement, run
from tests import factories
from tests.factories import Api
from tests.suppliers import products

KEPT = Statement.of("SELECT 'kept'", across="a test")


def prepared() -> list[str]:
    """Return the texts that the session has prepared, as PostgreSQL knows them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        return [row[0] for row in cursor.fetchall()]


def composed(number: int) -> Call:
    return Call(Statement.composed(f"SELECT {number}, 'composed'"))


def test_what_the_code_fixes_is_prepared_however_many_statements_there_are() -> None:
    many = [Statement.of(f"SELECT {number}, 'many'", across="a test") for number in range(700)]
    for one in (*many, KEPT):
        run([Call(one)])
    found = prepared()
    assert sum("'many'" in text for text in found) == 700
    assert "SELECT 'kept'" in found


def test_what_requests_compose_is_prepared_once_it_recurs_and_closed_when_it_is_out_of_use() -> None:
    run([composed(-1)])
    assert "SELECT -1, 'composed'" not in prepared()
    for number in range(COMPOSED_AT_MOST + 50):
        run([composed(number)])
        run([composed(number)])
    found = [text for text in prepared() if text.endswith("'composed'")]
    assert len(found) <= COMPOSED_AT_MOST
    assert f"SELECT {COMPOSED_AT_MOST + 49}, 'composed'" in found
    assert "SELECT 0, 'composed'" not in found


def test_no_client_fills_sessions_by_its_choice_of_fields() -> None:
    """Lists, objects and saves are prepared, and the choices of clients count among what is in use."""
    tenant = factories.provision("supplier")
    api = factories.as_member(tenant, ["supplier_admin"])
    made = products.create(api)["id"]
    lasting = _lasting(api, made)
    for names in ("id,name", "id,category", "name,version", "version,id", "supplier_sku"):
        for _ in range(2):
            assert api.get(f"/v1/products?fields={names}").status_code == 200
            assert api.get(f"/v1/products/{made}?fields={names}").status_code == 200
    assert _lasting(api, made) == lasting


def _lasting(api: Api, key: str) -> set[bytes]:
    """Return the names that the session keeps for good, after the usual list and object were read."""
    for path in ("/v1/products", f"/v1/products/{key}"):
        for _ in range(2):
            assert api.get(path).status_code == 200
    return {*connection.connection._hp_session.lasting}
