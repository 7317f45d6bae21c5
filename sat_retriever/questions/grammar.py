"""Make texts from a grammar: rules whose alternatives name other rules in braces."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.errors import InputError

PACKAGED = Path(__file__).parent / "words"
# For names found in sheets: these rules do not assume that a name is a company.
FOUND = Path(__file__).parent / "words_found"
_NAME = re.compile(r"\{([a-z_]+)\}")
_SPACES = re.compile(r"\s+")
_BRACES = str.maketrans("{}", "\ue000\ue001")  # braces in names, which do not refer to rules
_BACK = str.maketrans("\ue000\ue001", "{}")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text, and the given rules with the alternative taken from each, in order."""

    text: str
    chosen: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules by name, each with its alternatives.

    In an alternative, `{name}` is replaced by any alternative of that rule. An alternative
    that needs a rule without alternatives is never taken, so a text never mentions what is
    not given.
    """

    rules: Mapping[str, Sequence[str]]

    @classmethod
    def load(cls, folder: str | Path | None = None) -> Grammar:
        """Load the packaged grammar; a user's file replaces the packaged file of the same name.

        Each `*.json` file holds an object that maps rule names to lists of texts.

        Raises:
            InputError: If a file cannot be read, has another form, or rules are circular.
        """
        files = {path.name: path for path in sorted(PACKAGED.glob("*.json"))}
        if folder is not None:
            files |= {path.name: path for path in sorted(Path(folder).glob("*.json"))}
        rules: dict[str, Sequence[str]] = {}
        for _, path in sorted(files.items()):
            rules |= _read(path)
        grammar = cls(rules)
        for name in rules:
            grammar._refuse_circle(name, ())
        return grammar

    def expand(
        self, start: str, given: Mapping[str, Sequence[str]], rng: random.Random
    ) -> Wording | None:
        """Make a text of a rule with evenly drawn alternatives; None if no alternative is possible.

        Args:
            given: Additional rules for this text: its nouns, names and times.

        >>> grammar = Grammar({"ask": ["Find {what}", "Show {where}"]})
        >>> grammar.expand("ask", {"what": ["it"]}, random.Random(0))
        Wording(text='Find it', chosen=(('what', 'it'),))
        """
        known: dict[str, list[str]] = {}
        chosen: list[tuple[str, str]] = []

        def possible(name: str) -> list[str]:
            if name not in known:
                known[name] = [
                    alternative
                    for alternative in given.get(name, self.rules.get(name, ()))
                    if all(possible(part) for part in _NAME.findall(alternative))
                ]
            return known[name]

        def say(name: str) -> str:
            alternative = rng.choice(known[name])
            if name in given and not _NAME.search(alternative):
                chosen.append((name, alternative))
            return _NAME.sub(lambda match: say(match.group(1)), alternative)

        if not possible(start):
            return None
        text = _SPACES.sub(" ", say(start)).strip().translate(_BACK)
        return Wording(text, tuple((name, said.translate(_BACK)) for name, said in chosen))

    def _refuse_circle(self, name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise InputError(f"grammar rules are circular: {' > '.join((*above, name))}")
        for alternative in self.rules.get(name, ()):
            for part in _NAME.findall(alternative):
                self._refuse_circle(part, (*above, name))


def literal(text: str) -> str:
    """Escape a name for `Grammar.expand`, so that its braces do not refer to rules."""
    return _SPACES.sub(" ", text).strip().translate(_BRACES)


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Join parts as a list in a sentence.

    >>> joined(["payroll", "roster", "training"])
    'payroll, roster and training'
    """
    *first, last = parts
    return f"{', '.join(first)} {word} {last}" if first else last


def filled(alternatives: Sequence[str], values: Mapping[str, str]) -> Iterator[str]:
    """Yield alternatives with `<name>` replaced by values; skip those without a value."""
    for alternative in alternatives:
        names = re.findall(r"<([a-z_]+)>", alternative)
        if all(name in values for name in names):
            yield re.sub(r"<([a-z_]+)>", lambda match: values[match.group(1)], alternative)


def _read(path: Path) -> dict[str, Sequence[str]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} must be an object that maps rule names to lists of texts")
    for name, texts in content.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{path}: rule {name!r} must be a list of texts, not {texts!r:.80}")
    return content
