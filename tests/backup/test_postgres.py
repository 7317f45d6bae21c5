"""An index in PostgreSQL is saved as a file, and comes back to a database or a file."""

from __future__ import annotations

import psycopg
import pytest

from sat_retriever import IndexFormatError, InputError, SheetIndex
from sat_retriever.backup.manifest import INDEX
from sat_retriever.backup.restore import check, restore
from sat_retriever.backup.write import back_up
from sat_retriever.index.store.place import place_of
from sat_retriever.index.store.postgres import migrating
from tests.backup.test_backup import record, spoilt
from tests.fakes import HashedEncoder


@pytest.fixture
def stored(url):
    with SheetIndex.create(url, HashedEncoder()) as index:
        index.add_records(record(number) for number in range(40))
        yield index


def answers(index: SheetIndex) -> list[tuple[str, float]]:
    found = index.candidates("sales 7", 50)
    return sorted((each.sheet_id, round(each.score, 6)) for each in found)


def test_a_backup_is_one_state_although_others_write_while_it_is_made(
    stored, url, tmp_path, monkeypatch
):
    monkeypatch.setattr(migrating, "_AT_ONCE", 10)
    written = []

    def write(what: str, _done: int, _total: int, noun: str) -> None:
        if (what, noun) == ("copying", "row") and not written:
            written.append(stored.add_records([record(1_000)]))

    before = answers(stored)
    folder, manifest = back_up(place_of(url), tmp_path / "backups", told=write)
    assert written and (manifest.sheets, len(stored)) == (40, 41)
    restore(folder, tmp_path / "file.sat")
    restore(folder, place_of(f"{url}&collection=b"))
    for place in (tmp_path / "file.sat", f"{url}&collection=b"):
        with SheetIndex.open(place, HashedEncoder()) as back:
            assert answers(back) == before
            back.add_records([record(2)])
            assert len(back) == 40  # the same sheet anew


def test_an_index_is_replaced_whole_and_roles_keep_their_rights(stored, url, postgres, tmp_path):
    place = place_of(url)
    with psycopg.connect(postgres.conninfo, autocommit=True) as admin:
        admin.execute(f"DROP ROLE IF EXISTS r{place.namespace}")
        admin.execute(f"CREATE ROLE r{place.namespace} LOGIN")
        admin.execute(f'GRANT USAGE ON SCHEMA "{place.namespace}" TO r{place.namespace}')
        admin.execute(
            f'ALTER DEFAULT PRIVILEGES IN SCHEMA "{place.namespace}" '
            f"GRANT SELECT ON TABLES TO r{place.namespace}"
        )
    folder, _ = back_up(place, tmp_path / "backups")
    stored.add_records([record(99)])
    stored.close()
    with pytest.raises(InputError, match="exists already"):
        restore(folder, place)
    restore(folder, place, replace=True)
    with SheetIndex.open(f"{url}&user=r{place.namespace}", HashedEncoder()) as searched:
        assert len(searched) == 40
    whole = (folder / INDEX).read_bytes()
    spoilt(folder, INDEX)
    with pytest.raises(IndexFormatError, match="is damaged"):
        restore(folder, place, replace=True)
    (folder / INDEX).write_bytes(whole)
    check(folder)  # restoring has not changed it
    with SheetIndex.open(url, HashedEncoder()) as index:
        assert len(index) == 40


def test_a_replacement_that_fails_leaves_the_index(stored, url, tmp_path, monkeypatch):
    folder, _ = back_up(place_of(url), tmp_path / "backups")
    stored.add_records([record(99)])
    monkeypatch.setattr(migrating, "_digest", lambda rows: (len([*rows]), id(rows)))
    with pytest.raises(IndexFormatError, match="nothing was kept"):
        restore(folder, place_of(url), replace=True)
    assert len(stored) == 41


def test_tables_of_an_older_version_are_left_to_it(stored, url, tmp_path, monkeypatch):
    older = (*migrating.schema.MIGRATIONS, "SELECT 1")
    monkeypatch.setattr(migrating.schema, "MIGRATIONS", older)
    with pytest.raises(IndexFormatError, match="was written by an older version"):
        back_up(place_of(url), tmp_path / "backups")
