"""The variants of a corpus: with titles or without, among its own tables or among more."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import Corpus, Tables
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.tables import tables_name


@dataclass(frozen=True, slots=True)
class Variant:
    """One corpus as it is searched.

    Attributes:
        corpus: The corpus.
        titles: False if names of workbooks and sheets are numbers.
        distractors: True if tables without questions stand among its own.
    """

    corpus: Corpus
    titles: bool = True
    distractors: bool = False

    @property
    def dataset(self) -> str:
        """Name of its data set in result files."""
        files = self.corpus.load
        if not isinstance(files, Tables):
            return self.corpus.dataset
        return tables_name(
            files.name, titles=self.titles, distractors=self.distractors, part=files.part
        )

    @property
    def title(self) -> str:
        """Its name in tables, below that of the corpus."""
        if not isinstance(self.corpus.load, Tables):
            return "real workbooks"
        named = "titles" if self.titles else "no titles"
        return f"{named}, {'with distractors' if self.distractors else 'own tables'}"

    def read(self, data: Path) -> Dataset:
        """Read it from the folder of all data.

        Raises:
            CorpusError: If a file is missing or malformed.
        """
        files = self.corpus.load
        if not isinstance(files, Tables):
            return self.corpus.read(data)
        folder = data / self.corpus.folder
        return files(folder, titles=self.titles, distractors=self.distractors)


def variants(corpus: Corpus, *, distractors: bool = True) -> tuple[Variant, ...]:
    """Return the variants of a corpus; real workbooks have one.

    Args:
        corpus: The corpus.
        distractors: False leaves those with distractors out.
    """
    if not isinstance(corpus.load, Tables):
        return (Variant(corpus),)
    among = (False, True) if distractors else (False,)
    return tuple(Variant(corpus, titles, more) for more in among for titles in (True, False))


def sampled(dataset: Dataset, most: int) -> dict[int, Query]:
    """Return at most so many questions by their place, the same ones for ever."""

    def draw(place: int) -> bytes:
        return hashlib.sha256(dataset.queries[place].text.encode("utf-8")).digest()

    places = sorted(range(len(dataset.queries)), key=draw)[:most]
    return {place: dataset.queries[place] for place in sorted(places)}
