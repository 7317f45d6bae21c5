"""Build the index from which Stage 2 and the Cross-Encoder take their training candidates."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from sat_retriever.datasets.dataset import Dataset
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.files import make_folder, writing
from sat_retriever.records.links import Link
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import Serialization
from sat_retriever.train.data.reading import read_records


def corpus_index(
    dataset: Dataset,
    encoder: Encoder,
    path: str | Path,
    *,
    links: bool = True,
    seen: frozenset[str] | None = None,
    serialization: Serialization | None = None,
    times: bool = False,
) -> SheetIndex:
    """Index a corpus with its published links and no others.

    An existing index of the same encoder, texts and sheets is opened instead. Several processes may
    ask for it at once; the first one writes it, whole or not at all. With `seen`, only these sheets
    and the links among them are kept. With `times`, the periods that questions name count, as in a
    user's index.

    Raises:
        InputError: If the dataset has no records, or the file holds another index.
    """
    if not dataset.records:
        raise InputError(f"data set {dataset.name!r} has no records; index its folder instead")
    kept = [record for record in dataset.records if seen is None or record.sheet_id in seen]
    known = {record.sheet_id for record in kept}
    form = serialization or Serialization()

    def fill(index: SheetIndex) -> None:
        published = _among(dataset.links, known) if links else ()
        index.add_records(kept, published, find_links=False)

    return _built(Path(path), _Wanted(encoder, form, known, times), fill)


def seen_index(
    index: SheetIndex,
    seen: frozenset[str],
    path: str | Path,
    *,
    encoder: Encoder | None = None,
    dense_weight: float | None = None,
) -> SheetIndex:
    """Index some sheets of an index, with the links among them, in a file of its own.

    Without an encoder, the tokens and the share of the cosine are those of the index.
    """

    def fill(part: SheetIndex) -> None:
        kept = (record for record in read_records(index) if record.sheet_id in seen)
        part.add_records(kept, _among(index.all_links(), seen), find_links=False)

    if encoder is None:
        encoder, dense_weight = index.encoder, index.dense_weight
    wanted = _Wanted(encoder, index.serialization, set(seen), index.times, dense_weight)
    return _built(Path(path), wanted, fill)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The properties that an index must have; without `dense_weight`, the encoder has its own."""

    encoder: Encoder
    form: Serialization
    sheets: set[str]
    times: bool
    dense_weight: float | None = None


def _built(path: Path, wanted: _Wanted, fill: Callable[[SheetIndex], None]) -> SheetIndex:
    """Open the index at `path`, or make it beside that path and move it there."""
    path = path.absolute()
    make_folder(path.parent)
    with writing(path), FileLock(f"{path}.lock"):
        if path.exists():
            index = SheetIndex.open(path, wanted.encoder, times=wanted.times)
            if index.serialization == wanted.form and set(index.sheet_ids()) == wanted.sheets:
                return index
            index.close()
            raise InputError(
                f"{path} is an index of other sheets or other texts; remove it, or choose another "
                "folder for the run"
            )
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as draft:
            file = Path(draft) / path.name
            encoder, form, weight = wanted.encoder, wanted.form, wanted.dense_weight
            made = SheetIndex.create(file, encoder, serialization=form, dense_weight=weight)
            with made:
                fill(made)
            file.rename(path)
    return SheetIndex.open(path, wanted.encoder, times=wanted.times)


def _among(links: Iterable[Link], known: Iterable[str]) -> list[Link]:
    there = frozenset(known)
    return [link for link in links if link.source in there and link.target in there]
