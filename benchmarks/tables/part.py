"""One table or figure of the results, with what it shows and where its numbers come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Files = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the results.

    Attributes:
        title: Heading.
        text: What it shows, and the command that measures it.
        content: The table or picture, as Markdown.
        files: Result files it was made from.
    """

    title: str
    text: str
    content: str
    files: Files = ()

    def markdown(self, level: int = 3) -> str:
        """The part with its heading, and with the commits and machines behind it."""
        where = f" {measured_on(self.files)}" if self.files else ""
        return f"{'#' * level} {self.title}\n\n{self.text}{where}\n\n{self.content}"


def measured_on(files: Files) -> str:
    """Commits and machines behind some results, in one sentence."""
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
