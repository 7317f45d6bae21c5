"""Count the work that an encoder of other people was asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """The work of an encoder that runs elsewhere: a server, or an object of a framework.

    Attributes:
        texts: Number of encoded texts: names and contents of sheets, and questions.
        characters: Characters of these texts as they were sent.
        tokens: Tokens that the server counted; None if it does not count.
        seconds: Time spent waiting for it, pauses between tries included.
        retries: Number of requests that were repeated.
    """

    texts: int = 0
    characters: int = 0
    tokens: int | None = None
    seconds: float = 0.0
    retries: int = 0

    @property
    def texts_per_second(self) -> float:
        """Speed so far; 0 before the first text.

        >>> Cost(texts=30, seconds=4.0).texts_per_second
        7.5
        """
        return self.texts / self.seconds if self.seconds else 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return the work of both; tokens are known if either was counted."""
        counted = [cost.tokens for cost in (self, other) if cost.tokens is not None]
        return Cost(
            self.texts + other.texts,
            self.characters + other.characters,
            sum(counted) if counted else None,
            self.seconds + other.seconds,
            self.retries + other.retries,
        )

    def since(self, earlier: Cost) -> Cost:
        """Return the work after an earlier state of the same count.

        >>> Cost(9, 90, 30).since(Cost(4, 40, 10))
        Cost(texts=5, characters=50, tokens=20, seconds=0.0, retries=0)
        """
        return Cost(
            self.texts - earlier.texts,
            self.characters - earlier.characters,
            None if self.tokens is None else self.tokens - (earlier.tokens or 0),
            self.seconds - earlier.seconds,
            self.retries - earlier.retries,
        )
