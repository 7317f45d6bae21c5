"""Roles, collections, versions, errors and repair of an index in PostgreSQL."""

from __future__ import annotations

import re

import psycopg
import pytest

from sat_retriever import (
    Column,
    Filters,
    IndexDamagedError,
    IndexFormatError,
    IndexNotFoundError,
    IndexStorageError,
    InputError,
    Link,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.errors import SatError
from sat_retriever.index.store.opening import create_store, open_store
from sat_retriever.index.store.place import place_of
from sat_retriever.index.store.postgres import schema, store
from sat_retriever.index.store.postgres.session import as_own
from sat_retriever.rank.reranker import Reranker
from tests.fakes import HashedEncoder

RECORDS = [
    SheetRecord("a", "Sales", workbook="a.xlsx", columns=(Column("Region"),), metadata={"y": 1}),
    SheetRecord("b", "Costs", workbook="a.xlsx", columns=(Column("Region"),)),
]


@pytest.fixture
def index(url):
    with SheetIndex.create(url, HashedEncoder()) as made:
        made.add_records(RECORDS)
        yield made


@pytest.fixture
def admin(postgres):
    with psycopg.connect(postgres.conninfo, autocommit=True) as connection:
        yield connection


@pytest.fixture
def reader(index, admin, postgres):
    """The URL of the index for a role that may only read, as the docs make it."""
    space = index.path.namespace
    role = f"r{space}"
    admin.execute(f"CREATE ROLE {role} LOGIN")
    admin.execute(f"GRANT USAGE ON SCHEMA {space} TO {role}")
    admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {space} TO {role}")
    yield postgres.url(space, user=role)
    admin.execute(f"DROP OWNED BY {role}")
    admin.execute(f"DROP ROLE {role}")


def test_a_reader_role_searches_and_can_write_nothing(index, reader, tmp_path):
    with SheetIndex.open(reader, HashedEncoder()) as other:
        assert [x.sheet_id for x in other.candidates("sales")] == ["a", "b"]
        assert other.candidates("sales", filters=Filters(metadata={"y": 1}))
        assert other.status()["sheets"] == 2 and other.copies(["a"]) == {}
        before = index.generation
        for write in (
            lambda: other.add_records(RECORDS),
            lambda: other.remove(["a"]),
            lambda: other.sync(tmp_path),
            lambda: other.reencode(HashedEncoder(32)),
            lambda: other.name_reranker(None),
            other.delete_if_empty,
        ):
            with pytest.raises(IndexStorageError, match="may only be read here"):
                write()
        # Past this package's own check, the server refuses.
        store = other._store
        store.writable = True
        with pytest.raises(IndexStorageError, match="refuses"):
            store.note({"x": "y"})
        for sql in ("DELETE FROM sheets", "UPDATE meta SET value = ''", "DROP TABLE links"):
            with pytest.raises(IndexStorageError, match="refuses"):
                store._rows(sql)
        assert index.generation == before and len(index) == 2


def test_a_role_without_any_right_is_told_so(index, admin, postgres):
    role = f"n{index.path.namespace}"
    admin.execute(f"CREATE ROLE {role} LOGIN")
    with pytest.raises(IndexStorageError, match="permission denied"):
        SheetIndex.open(postgres.url(index.path.namespace, user=role))
    with pytest.raises(IndexStorageError, match="permission denied"):
        SheetIndex.create(postgres.url(f"{role}x", user=role), HashedEncoder())
    admin.execute(f"DROP ROLE {role}")


def test_collections_of_a_schema_are_apart(url, admin):
    with (
        SheetIndex.create(f"{url}&collection=eu", HashedEncoder()) as eu,
        SheetIndex.create(f"{url}&collection=us", HashedEncoder(32)) as us,
    ):
        eu.add_records(RECORDS)
        us.add_records(RECORDS[:1])
        assert (len(eu), len(us)) == (2, 1)
        assert us.path.name == "us" and str(us.path).endswith("&collection=us")
        us.remove(["a"])
        assert us.delete_if_empty()
        assert len(eu) == 2 and [x.sheet_id for x in eu.candidates("costs", 1)] == ["b"]
    with pytest.raises(IndexNotFoundError, match="no index at postgresql"):
        SheetIndex.open(f"{url}&collection=us")
    with pytest.raises(IndexNotFoundError):
        SheetIndex.open(url)


def test_deleting_an_index_leaves_what_others_put_into_its_schema(index, admin):
    space = index.path.namespace
    admin.execute(f"CREATE TABLE {space}.mine (x int)")
    index.remove(["a", "b"])
    assert index.delete_if_empty()
    left = admin.execute(
        f"SELECT relname FROM pg_class WHERE relnamespace = '{space}'::regnamespace"
    )
    assert left.fetchall() == [("mine",)]
    SheetIndex.create(str(index.path), HashedEncoder()).close()  # into the schema that is there
    with pytest.raises(InputError, match="exists already"):
        SheetIndex.create(str(index.path), HashedEncoder())


def test_an_older_index_is_brought_up_to_date_by_a_writer_only(index, reader, monkeypatch):
    newer = (*schema.MIGRATIONS, "CREATE TABLE more (x int);\nINSERT INTO more VALUES (7)")
    with monkeypatch.context() as later:
        later.setattr(schema, "MIGRATIONS", newer)
        with pytest.raises(IndexFormatError, match="older version and may only be read"):
            open_store(place_of(reader))
        later.setattr(
            schema, "MIGRATIONS", (*newer, "CREATE TABLE half (x int);\nSELECT nothing()")
        )
        with pytest.raises(IndexFormatError):
            open_store(index.path)
        assert index._store._rows("SELECT version FROM sat_version") == [(len(newer) - 1,)]
        later.setattr(schema, "MIGRATIONS", newer)
        store = open_store(index.path)
        assert store._rows("SELECT x FROM more") == [(7,)]
        assert store.counts()["sheets"] == 2
        store.close()
    with pytest.raises(IndexFormatError, match="newer version"):
        open_store(index.path)


def vector_indexes(index):
    found = index._store._rows(
        "SELECT indexdef FROM pg_indexes WHERE tablename = 'vectors' AND schemaname = ?",
        (index.path.namespace,),
    )
    return [row[0] for row in found if "USING hnsw" in row[0]]


def test_an_older_index_keeps_one_token_of_a_sheet_and_its_index(index, admin):
    admin.execute(f"SET search_path TO {index.path.namespace}, public")
    made = "CREATE INDEX ON vectors USING hnsw (({}::halfvec(64)) halfvec_ip_ops)"
    for older in (
        "ALTER TABLE vectors RENAME COLUMN token TO names",
        "ALTER TABLE vectors ADD COLUMN contents halfvec",
        made.format("names"),
        made.format("contents"),
        "CREATE TABLE contents_tokens (id bigint PRIMARY KEY, token bytea NOT NULL)",
        "CREATE POLICY seen ON contents_tokens FOR SELECT USING (true)",
        "ALTER TABLE tokens DROP COLUMN name",
        "UPDATE sat_version SET version = version - 2",
    ):
        admin.execute(older)
    assert len(vector_indexes(index)) == 2
    with SheetIndex.open(str(index.path), HashedEncoder()) as again:
        [kept] = vector_indexes(again)
        assert "token" in kept
        names = again._store.names(again.sheet_ids())
        records = again.records(again.sheet_ids())
        assert {each: name.sheet for each, name in names.items()} == {
            each: record.sheet for each, record in records.items()
        }
        again.add_records([SheetRecord("c", "Staff")])
        assert len(again) == 3


def test_an_index_of_vectors_is_made_on_request_and_kept(index, admin):
    index.add_records(RECORDS)
    index.reencode(HashedEncoder(32))
    assert vector_indexes(index) == []
    admin.execute(f"SET search_path TO {index.path.namespace}, public")
    admin.execute("CREATE INDEX ON vectors USING hnsw ((token::halfvec(32)) halfvec_ip_ops)")
    index.add_records([SheetRecord("c", "Staff"), SheetRecord("d", "Stock")])
    index.reencode(HashedEncoder(64))
    [made] = vector_indexes(index)
    assert "halfvec(64)" in made
    stored = "SELECT public.vector_dims(token) FROM vectors"
    assert index._store._rows(stored) == [(64,)] * 4


def test_the_joins_of_a_large_second_pass_are_planned_with_statistics(index, monkeypatch):
    analyzed = (
        "SELECT reltuples FROM pg_class WHERE relname = 'key_columns' "
        "AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?)"
    )
    assert index._store._rows(analyzed, (index.path.namespace,)) == [(-1,)]
    monkeypatch.setattr(store, "MANY", 1)
    keys = (Column("ticket_id"), Column("weight"))
    index.add_records([SheetRecord(f"{n}", f"Cargo {n}", columns=keys) for n in range(5)])
    columns = index._store._rows("SELECT count(*) FROM key_columns")
    assert index._store._rows(analyzed, (index.path.namespace,)) == columns != [(0,)]


def test_a_role_may_write_that_owns_nothing(index, admin, postgres):
    space = index.path.namespace
    role = f"w{space}"
    admin.execute(f"CREATE ROLE {role} LOGIN")
    admin.execute(f"GRANT USAGE ON SCHEMA {space} TO {role}")
    admin.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {space} TO {role}")
    admin.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {space} TO {role}")
    try:
        with SheetIndex.open(postgres.url(space, user=role), HashedEncoder()) as other:
            other.add_records([SheetRecord("c", "Staff")])
            assert len(other) == 3
    finally:
        admin.execute(f"DROP OWNED BY {role}")
        admin.execute(f"DROP ROLE {role}")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE sheets SET record = replace(record, 'Sales', 'Sold') WHERE sheet_id = 'a'",
        "UPDATE tokens SET token = '' WHERE id = (SELECT min(id) FROM sheets)",
        "UPDATE sheets SET metadata = '{}' WHERE sheet_id = 'a'",
        "DELETE FROM words WHERE id = (SELECT min(id) FROM sheets)",
    ],
)
def test_damaged_rows_are_found_and_taken_out_by_verifying(index, admin, damage, tmp_path):
    admin.execute(f"SET search_path TO {index.path.namespace}, public")
    admin.execute(damage)
    if "record" in damage:
        with pytest.raises(IndexDamagedError, match="sat index FOLDER --verify"):
            index.records(["a"])
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    report = index.sync(tmp_path, verify=True)
    assert report.lost == ("a: it has no file, add it again",)
    assert index.sheet_ids() == ["b", "x.csv#x"]
    assert index.sync(tmp_path, verify=True).lost == ()


def test_a_damaged_link_and_its_workbook_are_mended(index, admin, tmp_path):
    (tmp_path / "Plan 2023.csv").write_text("a,b\n1,2\n")
    (tmp_path / "Plan 2024.csv").write_text("a,b\n1,2\n")
    index.sync(tmp_path)
    links = [*index.all_links()]
    index._store.put_links([Link("a", "b", "mine", 0.5, "why")])
    admin.execute(f"SET search_path TO {index.path.namespace}")
    admin.execute("UPDATE links SET weight = 0.123")
    report = index.sync(tmp_path, verify=True)
    assert report.repaired == 2 and report.lost == ("a given link of a to b: add it again",)
    assert [*index.all_links()] == links and links


def test_values_that_postgresql_cannot_store_are_refused_and_leave_nothing(index):
    before = index.generation
    for record, reason in (
        (SheetRecord("n\0ul", "N"), "cannot store a value"),
        (SheetRecord("".join(chr(i) for i in range(0x4E00, 0x4E00 + 3000)), "L"), "too long"),
    ):
        with pytest.raises(InputError, match=reason):
            index.add_records([record])
    assert index.generation == before and index.sheet_ids() == ["a", "b"]
    long = "x" * 5_000
    index.add_records(
        [SheetRecord("c", long, columns=(Column(long + "y"),), metadata={long: long})]
    )
    assert [x.sheet_id for x in index.candidates(long, 1)] == ["c"]
    assert index.search.count(Filters(metadata={long: long})) == 1


def test_no_error_of_the_driver_leaks_and_none_tells_a_row():
    place = place_of("postgresql://me:secret@h/d?schema=s&sslpassword=hidden")
    seen = set()
    for code in psycopg.errors._sqlcodes:
        kind = psycopg.errors.lookup(code)
        error = as_own(kind("it failed\nDETAIL:  Key (x)=(salary)"), place)
        assert isinstance(error, SatError) and "salary" not in str(error)
        assert "secret" not in str(error) and "hidden" not in str(error)
        seen.add(type(error).__name__)
    assert len(seen) >= 4
    for kind in (psycopg.InterfaceError, psycopg.OperationalError, psycopg.DataError):
        assert isinstance(as_own(kind("x"), place), SatError)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("postgresql://u:top%40secret@127.0.0.1:1/d", "cannot connect"),
        ("postgresql://u:top%zzsecret@127.0.0.1:1/d", "cannot read"),
        ("postgresql://u@127.0.0.1:1/d?password=topsecret&wrong=1", "cannot read"),
        ("postgresql:///d?service=nosuchservice&password=topsecret", "cannot"),
    ],
)
def test_a_server_that_cannot_be_reached_is_named_without_the_password(text, reason):
    for call in (SheetIndex.open, lambda text: create_store(place_of(text), {})):
        with pytest.raises((IndexStorageError, InputError), match=reason) as caught:
            call(text)
        error = caught.value
        while error is not None:
            assert "secret" not in str(error) and "secret" not in repr(error)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_tls_is_asked_of_the_server_as_the_url_says(index, postgres):
    """The server of the tests has no TLS, so a URL that requires it is refused."""
    with psycopg.connect(postgres.conninfo) as connection:
        port = connection.info.port
    with pytest.raises(IndexStorageError, match="cannot connect"):
        SheetIndex.open(f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=require")


def test_a_password_comes_from_the_password_file_and_a_host_from_a_service_file(
    index, admin, postgres, tmp_path, monkeypatch
):
    space = index.path.namespace
    role = f"locked{space}"  # the server asks roles of such names for a password
    admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'open sesame'")
    admin.execute(f"GRANT USAGE ON SCHEMA {space} TO {role}")
    admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {space} TO {role}")
    service, passwords = tmp_path / "services.conf", tmp_path / "passwords"
    service.write_text(f"[sheets]\nhost={postgres.folder}\nuser={role}\ndbname=postgres\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    url = f"postgresql:///?service=sheets&schema={space}"
    for text in (url, f"{url}&password=wrong"):
        with pytest.raises(IndexStorageError, match="password"):
            SheetIndex.open(text)
    passwords.write_text(f"*:*:*:{role}:open sesame\n")
    passwords.chmod(0o600)
    with SheetIndex.open(url, HashedEncoder()) as other:
        assert len(other) == 2 and str(other.path) == url
    with SheetIndex.open(f"{url}&password=open%20sesame", HashedEncoder()) as other:
        assert str(other.path) == url and "sesame" not in f"{other.path!r} {other.status()}"
    admin.execute(f"DROP OWNED BY {role}")
    admin.execute(f"DROP ROLE {role}")


def test_a_closed_index_says_so(url):
    index = SheetIndex.create(url, HashedEncoder())
    index.close()
    index.close()
    with pytest.raises(IndexFormatError, match="was closed"):
        len(index)


def test_an_answer_is_of_one_state_whatever_others_write(index, url):
    class Removing(Reranker):
        """Removes the best sheet while the answer is made."""

        def rerank(self, found):
            with SheetIndex.open(url, HashedEncoder()) as other:
                assert other.remove([found.ids[0]]) == 1
            return found.candidates

    found = SheetRetriever(index, Removing()).retrieve("sales")
    assert [hit.sheet_id for hit in found] == ["a", "b"]
    assert [hit.sheet_id for hit in SheetRetriever(index, None).retrieve("sales")] == ["b"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            [
                "CREATE FUNCTION trap() RETURNS bigint LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'a trap was sprung'; END $$",
                "ALTER TABLE sat_version RENAME TO v",
                "CREATE VIEW sat_version AS SELECT trap() AS version",
            ],
            "view 'sat_version'",
        ),
        (
            [
                "CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'a trap was sprung'; END $$",
                "CREATE TRIGGER t BEFORE INSERT ON meta EXECUTE FUNCTION trap()",
            ],
            "trigger 't'",
        ),
        (["CREATE RULE r AS ON UPDATE TO meta DO INSTEAD DELETE FROM sheets"], "rule 'r'"),
        (
            [
                "CREATE FOREIGN DATA WRAPPER w",
                "CREATE SERVER far FOREIGN DATA WRAPPER w",
                "CREATE FOREIGN TABLE strange () INHERITS (sheets) SERVER far",
            ],
            "table with the rows of 'sheets'",
        ),
        (
            [
                "CREATE FOREIGN DATA WRAPPER w",
                "CREATE SERVER far FOREIGN DATA WRAPPER w",
                "ALTER TABLE stale_families RENAME TO old",
                "CREATE FOREIGN TABLE stale_families (family text) SERVER far",
            ],
            "foreign table 'stale_families'",
        ),
    ],
)
def test_tables_of_others_in_the_place_of_ours_are_refused_before_they_are_read(
    url, postgres, changes, told
):
    SheetIndex.create(url, HashedEncoder()).close()
    space = place_of(url).namespace
    with psycopg.connect(postgres.conninfo, autocommit=True) as hostile:
        hostile.execute(f"SET search_path = {space}")
        try:
            for each in changes:
                hostile.execute(each)
            with pytest.raises(IndexFormatError, match=re.escape(told)):
                SheetIndex.open(url)
        finally:
            hostile.execute("DROP FOREIGN DATA WRAPPER IF EXISTS w CASCADE")
            hostile.execute(f"DROP SCHEMA {space} CASCADE")
