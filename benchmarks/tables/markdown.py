"""Numbers and tables as the README prints them."""

from __future__ import annotations

from collections.abc import Sequence

from sat_retriever.datasets.metrics import Difference


def number(value: object) -> str:
    """Return a number, or an interval of two, as the tables print it; a dash where it is undefined.

    >>> number(0.85712), number(12_345), number(None), number(17.25), number(True)
    ('.857', '12,345', '–', '17.2', 'yes')
    >>> number([0.78, 1.0])
    '.780 to 1.000'
    """
    if value is None:
        return "–"
    if isinstance(value, list):
        return " to ".join(map(number, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if abs(value) >= 10:
            return f"{value:,.1f}"
        text = f"{value:.3f}"
        return text.removeprefix("0") if value < 1 else text
    return str(value)


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; short rows are filled up with empty cells.

    >>> print(markdown(["a", "b"], [["1"]]))
    | a | b |
    |---|---|
    | 1 |  |
    """
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    for row in rows:
        filled = [*row, *[""] * (len(headings) - len(row))]
        lines.append("| " + " | ".join(filled) + " |")
    return "\n".join(lines)


def not_run(table: str) -> str:
    """Return the text shown in place of a table without results.

    >>> not_run("main")
    '*not run: `python -m benchmarks run main`*'
    """
    return f"*not run: `python -m benchmarks run {table}`*"


def signed(found: Difference) -> str:
    """Return a difference with its interval.

    >>> signed(Difference(0.031, -0.002, 0.05))
    '+0.031 [-0.002, +0.050]'
    """
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
