"""One table or figure of the results, with what it shows and where its numbers come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.results import read_results
from benchmarks.tables.markdown import not_run

Files = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the results.

    Attributes:
        title: Heading.
        text: Description of the content, and the command that measures it.
        content: The table or picture, as Markdown.
        limits: What the figures do not show.
        files: Result files it was made from.
    """

    title: str
    text: str
    content: str
    limits: str
    files: Files = ()

    def markdown(self, level: int = 2) -> str:
        """Return the part with its heading, limits, and the commits and machines behind it."""
        where = measured_on(self.files) if self.files else ""
        about = " ".join(filter(None, [self.text, where]))
        heading = f"{'#' * level} {self.title}"
        return f"{heading}\n\n{about}\n\n**Not shown:** {self.limits}\n\n{self.content}"


@dataclass(frozen=True, slots=True)
class Shown:
    """One part as data: where its results are, and the function that makes its table of them.

    Attributes:
        title: Heading.
        run: Name of the command that measures it; empty if the text names it.
        text: Description of the content.
        benchmarks: Folders of the results that the table is made of.
        table: Makes the table; it takes the result files of each benchmark.
        limits: What the figures do not show.
        dated: The part names commits and machines of the first benchmark's results.
    """

    title: str
    run: str
    text: str
    benchmarks: tuple[str, ...]
    table: Callable[..., str]
    limits: str
    dated: bool = True

    def part(self) -> Part:
        """Return the part; without any results it says so."""
        files = [read_results(name) for name in self.benchmarks]
        missing = self.run and not any(files)
        table = not_run(self.run) if missing else self.table(*files)
        command = f"`python -m benchmarks run {self.run}`." if self.run else ""
        text = " ".join(filter(None, [command, self.text]))
        return Part(self.title, text, table, self.limits, files[0] if self.dated else ())


def measured_on(files: Files) -> str:
    """Return commits and machines behind some results, in one sentence."""
    commits = dict.fromkeys(
        f"`{(file['provenance']['commit'] or 'unknown')[:7]}`"
        + (" with changes" if file["provenance"]["dirty"] else "")
        for file in files
    )
    machines = dict.fromkeys(
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB"
        for machine in (file["provenance"]["hardware"] for file in files)
    )
    return f"Measured at {', '.join(commits)} on {'; '.join(machines)}."
