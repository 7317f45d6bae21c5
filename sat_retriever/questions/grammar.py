"""Texts from a grammar: rules whose alternatives name other rules in braces."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.errors import InputError

PACKAGED = Path(__file__).parent / "words"
# Instead of what speaks of companies: of found names it is not known what they name.
FOUND = Path(__file__).parent / "words_found"
_NAME = re.compile(r"\{([a-z_]+)\}")
_SPACES = re.compile(r"\s+")
_BRACES = str.maketrans("{}", "\ue000\ue001")  # of names, which are no rules
_BACK = str.maketrans("\ue000\ue001", "{}")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text and what was chosen for it.

    Attributes:
        text: The text.
        chosen: Given rules and which of their alternatives it holds, in order.
    """

    text: str
    chosen: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name, each with its alternatives.

    An alternative is text in which `{name}` stands for any alternative of that rule. One
    that needs a rule without alternatives is never taken, so that what is not given for a
    text cannot be spoken of.
    """

    rules: Mapping[str, Sequence[str]]

    @classmethod
    def load(cls, folder: str | Path | None = None) -> Grammar:
        """The packaged grammar, with a user's files in place of those of the same name.

        Each `*.json` holds an object: rule name to a list of texts.

        Raises:
            InputError: If a file cannot be read, has another form, or rules go in circles.
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
        """A text of a rule, alternatives drawn evenly; None if nothing can be said.

        Args:
            start: Name of the rule.
            given: Rules of this text alone: its nouns, names and times.
            rng: Source of every choice.

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
            raise InputError(f"grammar rules go in a circle: {' > '.join((*above, name))}")
        for alternative in self.rules.get(name, ()):
            for part in _NAME.findall(alternative):
                self._refuse_circle(part, (*above, name))


def literal(text: str) -> str:
    """A name as it may be given to `Grammar.expand`: its braces stand for themselves."""
    return _SPACES.sub(" ", text).strip().translate(_BRACES)


def joined(parts: Sequence[str], word: str = "and") -> str:
    """Parts as one says them.

    >>> joined(["payroll", "roster", "training"])
    'payroll, roster and training'
    """
    *first, last = parts
    return f"{', '.join(first)} {word} {last}" if first else last


def filled(alternatives: Sequence[str], values: Mapping[str, str]) -> Iterator[str]:
    """Alternatives with `<name>` replaced by values; those that need another one left out."""
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
        raise InputError(f"{path} must hold an object: rule name to list of texts")
    for name, texts in content.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{path}: rule {name!r} must be a list of texts, not {texts!r:.80}")
    return content
