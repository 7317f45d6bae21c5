import io
import random
import struct

import pytest

from sat_retriever import Limits, read_workbook
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import MIB, Refused
from sat_retriever.workbook.opening.ole import Container
from sat_retriever.workbook.read import LocalFile, read_files
from tests.places import needs
from tests.workbook.compound import END, FREE, SECTOR, compound, workbook_stream

ROWS = [["Item", "Amount"], ["nail", 3], ["bolt", 4.5]]
MANY_ROWS = [["Item", "Amount"], *(["nail", number] for number in range(300))]
TABLE, DIRECTORY, MINI_TABLE = SECTOR, 2 * SECTOR, 4 * SECTOR  # where they begin in these files
ROOT_CHILD, ENTRY = DIRECTORY + 76, 128
# A worker that takes more is killed, and the reason says so.
MODEST = Limits(memory_mb=256, seconds=10)
KILLED = {SkipReason.OUT_OF_MEMORY, SkipReason.TIMEOUT, SkipReason.READER_CRASHED}


def small():
    """A workbook in the mini stream."""
    return compound({"Workbook": workbook_stream(ROWS), "Notes": b"n" * 200})


def large():
    """A workbook in sectors of its own, from 7 on."""
    return compound({"Notes": b"n" * 200, "Workbook": workbook_stream(MANY_ROWS)})


def edited(content, *places):
    out = bytearray(content)
    for place, value in places:
        struct.pack_into("<I", out, place, value)
    return bytes(out)


def outcome(tmp_path, content, limits=MODEST):
    path = tmp_path / "book.xls"
    path.write_bytes(content)
    book = read_workbook(path, limits=limits)
    return len(book.records), [(skip.reason, skip.message) for skip in book.skipped]


@pytest.mark.parametrize("content", [small(), large()], ids=["small", "large"])
def test_a_sound_workbook_is_read(tmp_path, content):
    assert outcome(tmp_path, content) == (1, [])


def test_a_directory_of_1_5_kb_that_loops_is_damaged_and_costs_nothing(tmp_path):
    content = edited(small()[: 3 * SECTOR], (TABLE + 4, 1))
    assert len(content) == 1536
    [(reason, message)] = outcome(tmp_path, content)[1]
    assert reason is SkipReason.DAMAGED
    assert "the directory loops" in message
    assert "sector 1 occurs twice" in message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (edited(large(), (TABLE + 4 * 9, 7)), "the stream workbook loops"),
        (edited(large(), (TABLE + 4 * 9, 9)), "the stream workbook loops"),
        (edited(large(), (TABLE + 4 * 9, 9_999)), "the stream workbook leaves the file"),
        (edited(large(), (TABLE + 4 * 9, FREE)), "the stream workbook leaves the file"),
        (edited(small(), (MINI_TABLE, 0)), "the stream workbook loops"),
        (edited(small(), (76, 0), (80, 0)), "the allocation table loops"),
        (edited(small(), (76, 5_000)), "the allocation table leaves the file"),
        (edited(small(), (68, 2), (DIRECTORY + SECTOR + 508, 2)), "the list of allocation sectors"),
        (edited(small(), (48, 77)), "the directory leaves the file at sector 77"),
        (edited(small(), (DIRECTORY + 116, 0)), "the mini stream loops or meets another"),
        (edited(small(), (60, 1)), "the mini allocation table loops or meets another"),
        (edited(small(), (DIRECTORY + ENTRY + 116, 127)), "the stream workbook leaves the file"),
        (edited(small(), (DIRECTORY + ENTRY + 68, 1)), "the directory's tree loops: entry 1"),
        (edited(small(), (DIRECTORY + 2 * ENTRY + 68, 0)), "the directory's tree loops: entry 0"),
        (edited(small(), (ROOT_CHILD, 4_000)), "the directory names entry 4,000"),
    ],
)  # fmt: skip
def test_what_loops_or_leaves_the_file_is_named(content, said):
    with pytest.raises(Refused, match=said) as refused:
        Container(io.BytesIO(content), MIB).check()
    assert refused.value.reason is SkipReason.DAMAGED


def test_a_stream_of_macros_that_loops_is_damage_where_the_reader_follows_it(tmp_path):
    plain = {"dir": b"d" * 5_000, "Workbook": workbook_stream(MANY_ROWS)}
    loop = (TABLE + 4 * 6, 4)  # of "dir", which begins at sector 4
    Container(io.BytesIO(edited(compound(plain), loop)), MIB).check()
    assert outcome(tmp_path, edited(compound(plain), loop)) == (1, [])
    macros = compound({**plain, "_VBA_PROJECT_CUR": b""})
    with pytest.raises(Refused, match="a stream of macros loops"):
        Container(io.BytesIO(edited(macros, loop)), MIB).check()


def test_an_announced_size_beyond_the_file_does_no_harm(tmp_path):
    content = edited(large(), (DIRECTORY + 120, 0xFFFFFFFF))
    assert outcome(tmp_path, content) == (1, [])


def test_a_container_over_the_limit_of_bytes_is_not_looked_into():
    container = Container(io.BytesIO(large()), 1_000)
    assert not container.names
    with pytest.raises(Refused, match="the limit is 1,000"):
        container.check()


def test_the_workbook_stream_comes_as_it_was_written():
    for rows in (ROWS, MANY_ROWS):
        written = workbook_stream(rows)
        container = Container(io.BytesIO(compound({"Workbook": written})), MIB)
        container.check()
        name, pieces = container.workbook()
        assert (name, b"".join(pieces)) == ("workbook", written)


def mutants(content, count, seed):
    """Copies with up to three numbers of header, allocation tables and directory changed."""
    chance = random.Random(seed)
    sectors = len(content) // SECTOR
    table, directory, mini_table = (
        (struct.unpack_from("<I", content, at)[0] + 1) * SECTOR for at in (76, 48, 60)
    )
    fields = (68, 72, 76, 116, 120)  # of an entry: neighbours, start, size
    places = [
        *range(44, 80, 4),
        *range(table, table + 4 * min(sectors, 128), 4),
        *(directory + at + field for at in range(0, SECTOR, ENTRY) for field in fields),
        *range(mini_table, mini_table + 64, 4),
    ]
    places = [place for place in places if place <= len(content) - 4]
    for _ in range(count):
        values = [chance.randrange(sectors), END, FREE, chance.getrandbits(32), 0x0FFFFFFF]
        chosen = chance.sample(places, chance.randint(1, 3))
        yield edited(content, *((place, chance.choice(values)) for place in chosen))


def reasons_of_mutants(tmp_path, seeds):
    paths = []
    for number, content in enumerate(seeds):
        for index, mutant in enumerate(mutants(content, 120, seed=number)):
            paths.append(tmp_path / f"{number}-{index}.xls")
            paths[-1].write_bytes(mutant)
    books = read_files(map(LocalFile, paths), limits=MODEST, workers=1)
    return [(skip.path, skip.reason) for _, book in books for skip in book.skipped]


def test_no_mutant_of_the_tables_takes_a_reading_process_down(tmp_path):
    macros = {"Workbook": workbook_stream(MANY_ROWS), "_VBA_PROJECT_CUR": b"v", "dir": b"d" * 9_000}
    found = reasons_of_mutants(tmp_path, [small(), large(), compound(macros)])
    assert found
    assert [each for each in found if each[1] in KILLED] == []


def test_no_mutant_of_a_real_file_takes_a_reading_process_down(tmp_path):
    folder = needs("data/odd_files")
    names = (
        "calamine/date.xls",
        "poi/SimpleMacro.xls",
        "poi/42016.xls",
        "poi/xor-encryption-abc.xls",
    )
    found = reasons_of_mutants(tmp_path, [(folder / name).read_bytes() for name in names])
    assert found
    assert [each for each in found if each[1] in KILLED] == []


def test_every_compound_file_that_could_be_read_still_can():
    folder = needs("data/odd_files")
    refused = set()
    for path in sorted(folder.rglob("*.xls")):
        with path.open("rb") as file:
            container = Container(file, 256 * MIB)
            if container.names:
                try:
                    container.check()
                except Refused:
                    refused.add(path.name.partition("-")[0])
    assert refused == {"OOM_alloc3.xls", "clusterfuzz"}
