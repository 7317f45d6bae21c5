"""A small, seeded slice of the fuzzer in `benchmarks.safety.robustness`."""

import pytest

from benchmarks.safety.mutants import made_seeds, mutants
from benchmarks.safety.oracle import READERS, Oracle
from benchmarks.safety.robustness import Tally


@pytest.fixture
def oracles():
    opened = [Oracle(reader) for reader in READERS]
    yield opened
    for oracle in opened:
        oracle.close()


def test_damaged_files_never_crash_and_nothing_readable_is_missed(tmp_path, oracles):
    tally = Tally()
    for number, mutant in enumerate(mutants(made_seeds(), 80, seed=7)):
        path = tmp_path / f"{number}.{mutant.seed}"
        path.write_bytes(mutant.content)
        tally.add(path, f"{number}:{mutant.damage}:{mutant.seed}", oracles)
    assert tally.files == 80
    assert tally.expected > 20
    assert tally.crashes == []
    assert tally.silent == []
    assert tally.missed == []
    assert max(seconds for seconds, _ in tally.seconds) < 30


def test_the_same_seed_makes_the_same_mutants():
    seeds = made_seeds()
    once = [m.content for m in mutants(seeds, 30, seed=1)]
    assert once == [m.content for m in mutants(seeds, 30, seed=1)]
    assert once != [m.content for m in mutants(seeds, 30, seed=2)]
