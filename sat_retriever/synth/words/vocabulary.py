"""Load the words of the templates from data files that a user can replace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.synth.words import wordfiles

PACKAGED = wordfiles.FOLDER
OWNERS = ("companies", "markets", "institutions", "sources")
"""The lists of names of houses."""
_CATEGORY = "category_"


@dataclass(frozen=True, slots=True)
class KindWords:
    """The names of one kind of sheet and of its columns.

    Attributes:
        names: Names in tabs and files, one per variant: "Warehouse Entry", "Inbound".
        asked: Names in questions: "warehouse entry records", "goods received".
        columns: Headers by column id, one per variant; a company uses one variant for all.
        units: Texts of the units row by column id, for columns with a unit.
    """

    names: tuple[str, ...]
    asked: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    units: Mapping[str, str]

    def headers(self, column: str) -> tuple[str, ...]:
        """Return the headers of a column, one per variant."""
        if column not in self.columns:
            raise InputError(f"no column {column!r} among {', '.join(self.columns)}")
        return self.columns[column]


@dataclass(frozen=True, slots=True)
class CategoryWords:
    """The names of a category and its kinds: `label` in the statistics, `names` in paths."""

    label: str
    names: tuple[str, ...]
    asked: tuple[str, ...]
    kinds: Mapping[str, KindWords]

    @property
    def variants(self) -> int:
        """The number of schema variants, equal for all columns of all its kinds."""
        kind = next(iter(self.kinds.values()))
        return len(next(iter(kind.columns.values())))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All words of the templates: lists of `lists.json`, a file `category_<id>.json` each."""

    lists: Mapping[str, tuple[str, ...]]
    categories: Mapping[str, CategoryWords]
    naming: tuple[Mapping[str, Any], ...]
    abbreviations: Mapping[str, str]

    @classmethod
    def load(cls, folder: str | Path | None = None) -> Vocabulary:
        """Load the packaged words; a user's file replaces the packaged file of the same name.

        Lists that are missing in a user's `lists.json` stay as packaged.

        Raises:
            PathNotFoundError: If there is no such folder.
            InputError: If a file does not have the documented form.
        """
        files = {path.name: path for path in sorted(PACKAGED.glob("*.json"))}
        words = cls(
            lists=wordfiles.lists(files["lists.json"]),
            categories={
                name.removeprefix(_CATEGORY).removesuffix(".json"): _category(path)
                for name, path in files.items()
                if name.startswith(_CATEGORY)
            },
            naming=(),
            abbreviations={},
        )
        own = {} if folder is None else _files(Path(folder), files)
        naming, abbreviations = wordfiles.conventions((files | own)["naming.json"])
        lists = wordfiles.lists(own["lists.json"]) if "lists.json" in own else {}
        unknown = sorted(set(lists) - set(words.lists))
        if unknown:
            raise InputError(
                f"lists.json: there is no list {', '.join(unknown)}; the lists are "
                f"{', '.join(sorted(words.lists))}"
            )
        categories = {
            category: _replaced(own[f"{_CATEGORY}{category}.json"], packaged)
            for category, packaged in words.categories.items()
            if f"{_CATEGORY}{category}.json" in own
        }
        categories = dict(words.categories) | categories
        _check_owned({name: category.names for name, category in categories.items()}, "categories")
        _check_asked(categories)
        lists = dict(words.lists) | dict(lists)
        _check_houses(lists)
        return cls(lists, categories, naming, abbreviations)

    def category(self, category: str) -> CategoryWords:
        """Return the words of a category."""
        if category not in self.categories:
            raise InputError(f"no words for category {category!r}: {_CATEGORY}{category}.json")
        return self.categories[category]

    def kind(self, category: str, kind: str) -> KindWords:
        """Return the words of a kind of sheet."""
        kinds = self.category(category).kinds
        if kind not in kinds:
            raise InputError(f"{_CATEGORY}{category}.json has no kind {kind!r} among {list(kinds)}")
        return kinds[kind]


def _files(folder: Path, packaged: Mapping[str, Path]) -> dict[str, Path]:
    """Return a user's files by name; each replaces a packaged one."""
    if not folder.is_dir():
        raise PathNotFoundError(f"{folder} is not a folder; name a folder of .json word files")
    files = {path.name: path for path in sorted(folder.glob("*.json"))}
    strange = sorted(set(files) - set(packaged))
    if strange or not files:
        found = ", ".join(strange) or "no .json file"
        raise InputError(
            f"{folder} contains {found}; word files are called {', '.join(sorted(packaged))}"
        )
    return files


def _category(path: Path) -> CategoryWords:
    content = wordfiles.objects(wordfiles.read(path), path.name)
    kinds = {
        name: _kind(kind, f"{path.name}, kind {name!r}")
        for name, kind in wordfiles.objects(content.get("kinds"), f"{path.name}, 'kinds'").items()
    }
    _check_kinds(kinds, path.name)
    return CategoryWords(
        label=wordfiles.text(content.get("label"), f"{path.name}, 'label'"),
        names=wordfiles.texts(content.get("names"), f"{path.name}, 'names'"),
        asked=wordfiles.texts(content.get("asked"), f"{path.name}, 'asked'"),
        kinds=kinds,
    )


def _kind(content: Any, where: str) -> KindWords:
    content = wordfiles.objects(content, where)
    names = wordfiles.variants(content.get("names"), f"{where}, 'names'")
    wordfiles.tab_names(names, where)
    columns = {
        column: wordfiles.variants(headers, f"{where}, column {column!r}")
        for column, headers in wordfiles.objects(
            content.get("columns"), f"{where}, 'columns'"
        ).items()
    }
    units = content.get("units") or {}
    unknown = sorted(set(units) - set(columns))
    if unknown:
        raise InputError(f"{where}: units for unknown columns: {', '.join(unknown)}")
    return KindWords(
        names,
        wordfiles.texts(content.get("asked"), f"{where}, 'asked'"),
        columns,
        {column: wordfiles.text(unit, f"{where}, units") for column, unit in units.items()},
    )


def _check_kinds(kinds: Mapping[str, KindWords], where: str) -> None:
    counts = {
        f"{name}/{column}": len(headers)
        for name, kind in kinds.items()
        for column, headers in kind.columns.items()
    }
    first = next(iter(counts))
    for place, count in counts.items():
        if count != counts[first]:
            raise InputError(
                f"{where}: {place} has {count} headers and {first} has {counts[first]}; every "
                "column needs one header per variant"
            )
    for name, kind in kinds.items():
        for variant in range(counts[first]):
            _check_variant(kind, variant, f"{where}, kind {name!r}")
    _check_owned({name: kind.names for name, kind in kinds.items()}, f"{where}, kinds")


def _check_houses(lists: Mapping[str, tuple[str, ...]]) -> None:
    """Check that names of houses, which are in paths, differ by more than case and signs."""
    seen: dict[str, str] = {}
    for owner in OWNERS:
        for name in lists[owner]:
            sign = wordfiles.sign(name)
            if sign in seen:
                raise InputError(f"lists.json: {seen[sign]!r} and {name!r} would have equal paths")
            seen[sign] = name


def _check_asked(categories: Mapping[str, CategoryWords]) -> None:
    """Check that the first phrases, which are names in the labels, each name one kind."""
    first = {name: words.asked[:1] for name, words in categories.items()}
    _check_owned(first, "first phrases asked")
    kinds = {
        f"{name}/{kind}": words.asked[:1]
        for name, category in categories.items()
        for kind, words in category.kinds.items()
    }
    _check_owned(kinds, "first phrases asked")


def _check_owned(names: Mapping[str, tuple[str, ...]], where: str) -> None:
    """Check that no name has two owners, because files or tabs could then get the same name."""
    owners: dict[str, str] = {}
    for owner, texts in names.items():
        for text in texts:
            other = owners.setdefault(wordfiles.sign(text), owner)
            if other != owner:
                raise InputError(f"{where}: {other!r} and {owner!r} are both called {text!r}")


def _check_variant(kind: KindWords, variant: int, where: str) -> None:
    seen: dict[str, str] = {}
    for column, headers in kind.columns.items():
        header = headers[variant]
        other = seen.setdefault(wordfiles.sign(header), column)
        if other != column:
            raise InputError(
                f"{where}: columns {other!r} and {column!r} are both called {header!r} in variant "
                f"{variant + 1}; headers of one variant must differ in more than case and signs"
            )


def _replaced(path: Path, packaged: CategoryWords) -> CategoryWords:
    """Return a user's words of a category, with every column that its templates need."""
    found = _category(path)
    for name, kind in packaged.kinds.items():
        missing = set(kind.columns) - set(found.kinds[name].columns if name in found.kinds else ())
        if missing:
            raise InputError(f"{path}: kind {name!r} needs columns {', '.join(sorted(missing))}")
    return found
