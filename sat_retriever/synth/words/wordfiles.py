"""Read and check word files; errors name the file, the place and the required form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

from sat_retriever.errors import InputError

FOLDER = Path(__file__).parent
MAX_BYTES = 4 * 2**20
MAX_CHARS = 200
FIELDS = {"material_specs": ("materials", 1), "material_units": ("materials", 2)}
"""The nouns that are a field of another list's entries: list, position."""
SEPARATOR = "|"
COMPARISONS = ("=", "<", ">")
"""The beginnings of texts that SUMIFS cannot look for."""
_ENTRY_FORM = {of: f"name{SEPARATOR}specification{SEPARATOR}unit" for of, _ in FIELDS.values()} | {
    "measures": SEPARATOR.join(("header", "unit", "least", "most", "decimals"))
}

CASES = ("asis", "lower", "upper")
GRAINS = {"year": {"yyyy", "yy"}, "quarter": {"q"}, "month": {"mm", "m", "Month", "Mon", "mon"}}
"""The lengths of periods, and the parts of which their spellings need at least one."""
_KEYS = frozenset("name path tab tab_else case space short".split()) | {
    f"{place}{grain}" for place in ("", "tab_", "date_", "bare_") for grain in GRAINS
}
_PERIOD_PARTS = frozenset("yyyy yy q mm m Month Mon mon".split())
_PATH_PARTS = frozenset(
    "company category subject period within date yyyy number serial version".split()
)
_TAB_PARTS = frozenset("kind part period index".split())
_TIMES = frozenset(("period", "date"))
_NOT_IN_TABS = re.compile(r"[\[\]:*?/\\]")


def read(path: Path) -> Any:
    """Return the parsed JSON of a file of at most `MAX_BYTES`; an InputError if it is none."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{path} has {size:,} bytes; a word file may have at most {MAX_BYTES:,}"
            )
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_once)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; refuse a repeated name, which JSON parsers ignore."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} appears twice in one object")
    return content


def sign(text: str) -> str:
    """Return a name without letter case, blanks and signs, for comparison.

    >>> sign("Material Code"), sign("material_code")
    ('materialcode', 'materialcode')
    """
    return "".join(words_of(text.casefold())) or text.strip()


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text; "%" and "#" become words.

    >>> words_of("Var. %"), words_of("PO #")
    (['Var', 'pct'], ['PO', 'no'])
    """
    return re.findall(r"[^\W_]+", text.replace("%", " pct ").replace("#", " no "))


def objects(value: Any, where: str) -> Mapping[str, Any]:
    """Check for a JSON object with at least one entry."""
    if not isinstance(value, dict) or not value:
        raise InputError(f"{where}: an object with entries is needed, not {value!r:.80}")
    return value


def text(value: Any, where: str) -> str:
    """Check for one line of text."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: a text is needed, not {value!r:.80}")
    if len(value) > MAX_CHARS or not value.isprintable():
        raise InputError(
            f"{where}: one line of at most {MAX_CHARS} characters is needed: {value!r:.80}"
        )
    return value.strip()


def texts(value: Any, where: str) -> tuple[str, ...]:
    """Check for a list of distinct lines of text, at least one."""
    if not isinstance(value, list) or not value:
        raise InputError(f"{where}: a list of texts is needed, not {value!r:.80}")
    found = tuple(text(entry, f"{where}, entry {n}") for n, entry in enumerate(value, 1))
    twice = _twice(entry.split(SEPARATOR)[0].casefold() for entry in found)
    if twice is not None:
        raise InputError(f"{where}: {twice!r} appears twice")
    return found


def variants(value: Any, where: str) -> tuple[str, ...]:
    """Check for a list of texts, one per variant; two variants may be equal."""
    if not isinstance(value, list) or not value:
        raise InputError(f"{where}: a list of texts, one per variant, is needed, not {value!r:.80}")
    return tuple(text(entry, f"{where}, variant {n}") for n, entry in enumerate(value, 1))


def _twice(entries: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for entry in entries:
        if entry in seen:
            return entry
        seen.add(entry)
    return None


def lists(path: Path) -> Mapping[str, tuple[str, ...]]:
    """Read the lists of words by name from `lists.json`; an InputError if it has another form."""
    found = {
        name: texts(words, f"{path.name}, list {name!r}")
        for name, words in objects(read(path), path.name).items()
    }
    for name, entries in found.items():
        for entry in entries:
            if entry.startswith(COMPARISONS):
                raise InputError(
                    f"{path.name}, list {name!r}: {entry!r} begins like a comparison, and "
                    f"formulas read it as one; no entry may begin with {' '.join(COMPARISONS)}"
                )
    for of, form in _ENTRY_FORM.items():
        for entry in found.get(of, ()):
            if entry.count(SEPARATOR) != form.count(SEPARATOR):
                raise InputError(f"{path.name}, list {of!r}: {entry!r} is not of the form {form!r}")
    return found


def conventions(path: Path) -> tuple[tuple[Mapping[str, Any], ...], Mapping[str, str]]:
    """Read naming conventions, and abbreviations by case-folded word; errors as for `lists`."""
    content = objects(read(path), path.name)
    found = content.get("conventions")
    if not isinstance(found, list) or not found:
        raise InputError(f"{path.name}: 'conventions' must be a list with at least one convention")
    for number, convention in enumerate(found, 1):
        name = convention.get("name") if isinstance(convention, dict) else None
        where = f"{path.name}, convention {name or number!r}"
        _check_convention(objects(convention, where), where)
    twice = _twice(convention["name"] for convention in found)
    if twice is not None:
        raise InputError(f"{path.name}: two conventions are called {twice!r}")
    return tuple(found), _abbreviations(content.get("abbreviations") or {}, path.name)


def _abbreviations(value: Any, where: str) -> Mapping[str, str]:
    """Read abbreviations by case-folded word; each is for one word, so that names stay distinct."""
    found = {
        word.casefold(): text(short, f"{where}, abbreviation of {word!r}")
        for word, short in (objects(value, f"{where}, abbreviations") if value else {}).items()
    }
    twice = _twice(short.casefold() for short in found.values())
    if twice is not None:
        raise InputError(f"{where}: the abbreviation {twice!r} is used for two words")
    return found


def _check_convention(convention: Mapping[str, Any], where: str) -> None:
    unknown = sorted(set(convention) - _KEYS)
    if unknown:
        known = ", ".join(sorted(_KEYS))
        raise InputError(f"{where}: unknown entries {', '.join(unknown)}; the entries are {known}")
    for key in ("name", "path", "tab", "case"):
        text(convention.get(key), f"{where}, {key!r}")
    if convention["case"] not in CASES:
        raise InputError(f"{where}: 'case' must be one of {', '.join(CASES)}")
    if convention.get("space") not in {" ", "_", "-", "."}:
        raise InputError(f"{where}: 'space' must be a blank, '_', '-' or '.'")
    parts = placeholders(convention["path"], _PATH_PARTS, f"{where}, 'path'")
    timed = bool(parts & _TIMES) or {"yyyy", "within"} <= parts
    if not {"company", "category", "subject"} <= parts or not timed:
        raise InputError(
            f"{where}, 'path': needs {{company}}, {{category}}, {{subject}} and {{period}} (or "
            "{date}, or {yyyy} and {within}), or two workbooks could get one path"
        )
    for key in ("tab", "tab_else"):
        if key in convention:
            told = placeholders(text(convention[key], where), _TAB_PARTS, f"{where}, {key!r}")
    if not {"kind", "part", "period"} <= told or ("index" in told and "tab_else" not in convention):
        raise InputError(
            f"{where}: 'tab' (or 'tab_else', if 'tab' has none of them) needs {{kind}}, {{part}} "
            "and {period}, or two tabs could get one name"
        )
    _check_spellings(convention, parts, where)


def _check_spellings(convention: Mapping[str, Any], parts: set[str], where: str) -> None:
    for key in GRAINS:
        if key not in convention:
            raise InputError(f"{where}: needs {key!r}, a list of spellings of a {key}")
    for key, patterns in convention.items():
        place, _, grain = key.rpartition("_")
        if grain not in GRAINS:
            continue
        for pattern in texts(patterns, f"{where}, {key!r}"):
            told = placeholders(pattern, _PERIOD_PARTS, f"{where}, {key!r}")
            if not told & GRAINS[grain]:
                names = " or ".join(f"{{{part}}}" for part in sorted(GRAINS[grain]))
                raise InputError(f"{where}, {key!r}: {pattern!r} needs {names}")
            if not place and not told & GRAINS["year"] and "yyyy" not in parts:
                raise InputError(f"{where}, {key!r}: {pattern!r} needs {{yyyy}} or {{yy}}")


def placeholders(pattern: str, known: frozenset[str], where: str) -> set[str]:
    """Return the names in braces of a pattern."""
    try:
        found = {name for _, name, _, _ in Formatter().parse(pattern) if name is not None}
    except ValueError as error:
        raise InputError(f"{where}: {pattern!r}: {error}") from error
    if not found <= known:
        raise InputError(
            f"{where}: {pattern!r} may hold {', '.join(sorted(known))} in braces, "
            f"not {', '.join(sorted(found - known))}"
        )
    return found


def tab_names(names: Sequence[str], where: str) -> None:
    """Check names for tabs."""
    for name in names:
        if len(name) > 31 or _NOT_IN_TABS.search(name) or name[0] == "'" or name[-1] == "'":
            raise InputError(
                f"{where}: {name!r} cannot name a tab: at most 31 characters, none of []:*?/\\"
            )
