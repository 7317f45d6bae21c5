"""Count the contents of corpora of templates, beside the published ones.

    python -m benchmarks run synth_stats [--data ../shared/data] [--scales paper-1k paper-614]

The same function counts every figure over the JSON files, ours and theirs: sheets per category,
columns and rows per sheet, queries and hard negatives per type, links per type, pairs. The
published 614 has no queries.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.made.querycounts import Spread, query_statistics
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.datasets.dataset import Dataset, load_industrytab
from sat_retriever.datasets.sheets import SheetPair, load_pairs
from sat_retriever.errors import CorpusError
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.synth.corpus import MANIFEST, synthesize
from sat_retriever.synth.house.when import MONTHS
from sat_retriever.synth.options import SynthOptions
from sat_retriever.synth.words.vocabulary import OWNERS, Vocabulary

PUBLISHED = {"paper-1k": "industrytab_1k", "paper-614": "industrytab_614"}
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_PART = re.compile(r"[^\W\d_]+|\d+")
_GENITIVE = re.compile(r"['’]s?$")
_SLOT = "…"
_MONTHS = frozenset(month.casefold() for name in MONTHS for month in (name, name[:3]))
# Words that shape a question stay in its pattern even if a header or name has them.
_CARRIERS = frozenset(
    "a all an and any as by each every for from i in into is it me of on or per that the this to "
    "versus what where which with".split()
)


def figures(folder: Path, spoken: Iterable[str] = ()) -> dict[str, Any]:
    """Return every figure of a corpus in the published form.

    Args:
        folder: Folder of its JSON files.
        spoken: Words that queries use for the subjects of sheets, beside the words of the sheets.

    Raises:
        CorpusError: If its files are missing or malformed.
    """
    dataset = load_industrytab(folder)
    found: dict[str, Any] = {}
    manifest = folder / MANIFEST
    if manifest.is_file():
        found |= _of_manifest(json.loads(manifest.read_text(encoding="utf-8")))
    found |= dict(_of_sheets(dataset.records))
    if (folder / "query.json").is_file():
        found |= dict(_of_queries(dataset, spoken))
    found |= dict(_of_links(dataset.links, len(dataset.records)))
    return found | dict(_of_pairs(load_pairs(folder / "train.json", dataset.records)))


def _of_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures that only the generator knows."""
    conventions = manifest["conventions"]
    return {
        "workbooks": manifest["workbooks"],
        "naming conventions": len(conventions),
        "sheets of the most frequent one, share": _share(
            max(conventions.values()), sum(conventions.values())
        ),
    }


def _of_sheets(records: Sequence[SheetRecord]) -> Iterator[tuple[str, Any]]:
    yield "sheets", len(records)
    categories = Counter(map(category, records))
    for name, number in sorted(categories.items(), key=lambda item: (-item[1], item[0])):
        yield f"category: {name}", number
    columns = Spread.of(len(record.columns) for record in records)
    rows = Spread.of(record.num_rows or 0 for record in records)
    yield "columns a sheet, mean", round(columns.mean, 2)
    yield "columns a sheet, median", columns.median
    yield "rows a sheet, mean", round(rows.mean, 1)
    yield "rows a sheet, median", rows.median
    yield "different headers", len({c.name.casefold() for r in records for c in r.columns})
    yield "different header rows", len({tuple(c.name for c in r.columns) for r in records})


def category(record: SheetRecord) -> str:
    """Return the category of a sheet; published ones begin their names with it.

    >>> category(SheetRecord("1", "Sales_Data__Sales_2022_Q3_source"))
    'Sales Data'
    """
    own = record.metadata.get("category")
    if own:
        return str(own).replace("/", " ")  # as the published names spell it
    return record.sheet.partition("__")[0].replace("_", " ")


def _of_queries(dataset: Dataset, spoken: Iterable[str]) -> Iterator[tuple[str, Any]]:
    queries = dataset.queries
    counted = query_statistics(queries)
    negatives = Spread.of(len(query.negatives) for query in queries)
    yield "queries", counted.number
    for types, number in sorted(counted.by_type.items()):
        yield f"query type: {' / '.join(types)}", number
    spreads = (
        ("positives", counted.positives),
        ("random negatives", negatives),
        ("hard negatives", counted.hard),
    )
    for name, spread in spreads:
        yield f"{name} a query, mean", round(spread.mean, 2)
        yield f"{name} a query, median", spread.median
        yield f"{name} a query, largest", spread.largest
    for kind, number in sorted(counted.hard_types.items(), key=lambda item: (-item[1], item[0])):
        yield f"hard negatives: {kind}", number
    texts = [query.text for query in queries]
    yield "different texts", len({text.casefold() for text in texts})
    known = words_of(dataset.records, spoken)
    patterns = Counter(pattern(text, known) for text in texts)
    yield "surface patterns", len(patterns)
    yield "queries of the most frequent one, share", _share(max(patterns.values()), len(texts))


def words_of(records: Iterable[SheetRecord], more: Iterable[str] = ()) -> frozenset[str]:
    """Return the words of the names and headers of sheets and of more texts, in lower case."""
    texts = set(more)
    for record in records:
        texts |= {record.path, record.sheet, *(column.name for column in record.columns)}
    return frozenset(word.casefold() for text in texts for word in _PART.findall(text))


def spoken_words(vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the words of queries for kinds, categories and owners of made sheets."""
    for words in vocabulary.categories.values():
        yield from words.asked
        for kind in words.kinds.values():
            yield from kind.asked
            yield from (header for headers in kind.columns.values() for header in headers)
    for owner in OWNERS:
        yield from vocabulary.lists[owner]


def pattern(text: str, known: frozenset[str]) -> str:
    """Return a question without its subject: words of sheets and numbers become one sign.

    >>> pattern("Show Acme's sales in FY2024", frozenset(("sales", "acme")))
    'show … in …'
    """
    shown: list[str] = []
    for word in _WORD.findall(text.casefold()):
        parts = _PART.findall(_GENITIVE.sub("", word))
        asked = any(part.isdigit() or part in _MONTHS for part in parts)
        asked |= word not in _CARRIERS and all(_singular(part, known) for part in parts)
        if not asked:
            shown.append(word)
        elif shown[-1:] != [_SLOT]:
            shown.append(_SLOT)
    return " ".join(shown)


def _singular(word: str, known: frozenset[str]) -> bool:
    return word in known or (word.endswith("s") and word[:-1] in known)


def _of_links(links: Sequence[Link], sheets: int) -> Iterator[tuple[str, Any]]:
    types = Counter(link.type for link in links)
    yield "links", len(links)
    for kind, number in sorted(types.items(), key=lambda item: (-item[1], item[0])):
        yield f"links: {kind}", number
    linked = {end for link in links for end in (link.source, link.target)}
    yield "sheets with a link, share", _share(len(linked), sheets)


def _of_pairs(pairs: Sequence[SheetPair]) -> Iterator[tuple[str, Any]]:
    matched = [len(pair.matched_columns) for pair in pairs if pair.related]
    yield "pairs in train.json", len(pairs)
    yield "of them positive", len(matched)
    yield "matched columns a positive pair, mean", round(Spread.of(matched).mean, 2)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


@suite("synth_stats", "data", scales=option([*PUBLISHED], choices=[*PUBLISHED]), seed=0)
def main(options: Options) -> Iterator[Result]:
    """Make and count."""
    for name, dataset in PUBLISHED.items():
        if name not in options.scales:
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "corpus"
            synthesize(made, SynthOptions(name, options.seed))
            words = spoken_words(Vocabulary.load())
            data = sorted(made.glob("*.json"))
            yield Result("made", dataset, figures(made, words), seed=options.seed, data=data)
        published = options.data / dataset
        try:
            found = figures(published, ())
        except CorpusError as error:
            console.print(f"not run: {error}")
            continue
        yield Result("published", dataset, found, data=sorted(published.glob("*.json")))
