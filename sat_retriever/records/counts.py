"""Check of counts that callers pass: a whole number, at least one."""

from __future__ import annotations

from sat_retriever.errors import InputError


def check_counts(**counts: object) -> None:
    """Reject counts that are not whole numbers above 0.

    Raises:
        InputError: If a count is not; the message names it.

    >>> check_counts(top_k=5)
    """
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool):
            raise InputError(f"{name} is {count!r}; give a whole number")
        if count < 1:
            raise InputError(f"{name} is {count}; ask for at least 1")
