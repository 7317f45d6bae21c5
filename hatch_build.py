"""The README as a package index shows it, where a link into the checkout leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_IMAGE = r"!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)"
_LINK = r"(?<!!)\[([^\]]+)\]\((?!https?:)([^)\s]+)\)"


class Readme(MetadataHookInterface):
    """Sets the long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write it, with links to the `Source` of `[project.urls]`."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")
        metadata["readme"] = {"content-type": "text/markdown", "text": shown(text, source)}


def shown(text: str, source: str | None) -> str:
    """Return the text with whole addresses; without any, the words of links alone, and no image."""
    if source is None:
        return re.sub(_LINK, r"\1", re.sub(rf"{_IMAGE}\n*", "", text))
    text = re.sub(_IMAGE, rf"![\1]({source}/raw/HEAD/\2)", text)
    return re.sub(_LINK, rf"[\1]({source}/blob/HEAD/\2)", text)
