"""Rows of data on the terminal: all their columns, whatever its width."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from sat_retriever.cli.terminal import grid, plain, stdout

_READABLE = 14  # least characters of a column that is folded; a shorter one is as wide as its cells
_GAP = 2  # blanks between columns


def print_rows(
    names: Sequence[str], rows: Sequence[Sequence[object]], labels: Sequence[str] = ()
) -> None:
    """Print rows under the names of their columns; None is an empty cell.

    Columns that do not fit beside each other are printed below each other, in parts that each
    have all rows. Long cells are folded. So nothing is cut or left out.

    Args:
        names: Names of the columns.
        rows: The rows.
        labels: What stands before each row; in parts its number, if there are none.
    """
    heads = [plain(name) for name in names]
    cells = [[plain("" if cell is None else cell) for cell in row] for row in rows]
    widths = [
        max(cell_len(text.plain) for text in (head, *(row[place] for row in cells)))
        for place, head in enumerate(heads)
    ]
    out = stdout()
    whole = _parts(widths, out.width - _room(labels))
    if not labels and len(whole) > 1:
        labels = [str(number) for number in range(1, len(rows) + 1)]
        whole = _parts(widths, out.width - _room(labels))
    for part in whole:
        if len(whole) > 1:
            out.print(f"columns {part.start + 1} to {part.stop} of {len(heads)}:", style="dim")
        table = grid(*[""] * bool(labels), *heads[part.start : part.stop])
        for number, row in enumerate(cells):
            table.add_row(*labels[number : number + 1], *row[part.start : part.stop])
        out.print(table)
        if part is not whole[-1]:
            out.print()


def _room(labels: Sequence[str]) -> int:
    """Return the width of the labels; 0 without any."""
    return max(map(len, labels)) + _GAP if labels else 0


def _parts(widths: Sequence[int], room: int) -> list[range]:
    """Return runs of columns that fit beside each other; one column always does."""
    parts: list[range] = []
    start, used = 0, 0
    for place, width in enumerate(widths):
        needed = min(width, max(_READABLE, room // 3)) + _GAP
        if place > start and used + needed - _GAP > room:
            parts.append(range(start, place))
            start, used = place, 0
        used += needed
    return [*parts, range(start, len(widths))]
