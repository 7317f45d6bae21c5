"""Optional dependencies are imported here, or the missing one names its install command."""

from __future__ import annotations

import json
import shlex
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sat_retriever.errors import MissingExtraError

_NAME = "sat-retriever"


def require(module: str, extra: str) -> ModuleType:
    """The imported module.

    Args:
        module: Dotted name, for example "torch".
        extra: The extra of this package that installs it, for example "minilm".

    Raises:
        MissingExtraError: If it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{module} is not installed; run: {install_command(extra)}"
        ) from error


def install_command(extra: str = "") -> str:
    """The pip command that installs this package again from where it came, with an extra.

    Source: PEP 610 (`direct_url.json`, which pip writes for everything but an index).

    Args:
        extra: The extra to install besides; "" for none.
    """
    wanted = f"[{extra}]" if extra else ""
    origin = _origin()
    if origin is None:
        return f"pip install {shlex.quote(_NAME + wanted)}"
    url = str(origin["url"])
    if "vcs_info" in origin:
        commit = origin["vcs_info"]["commit_id"]
        url = f"{origin['vcs_info']['vcs']}+{url}@{commit}"
    elif "dir_info" in origin:
        option = "--editable " if origin["dir_info"].get("editable") else ""
        return f"pip install {option}{shlex.quote(_folder(url) + wanted)}"
    return f"pip install {shlex.quote(f'{_NAME}{wanted} @ {url}')}"


def _origin() -> dict[str, Any] | None:
    """Where the installed package came from; None if from an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        noted = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:  # a checkout on the import path, which nothing installed
        checkout = Path(__file__).resolve().parents[1]
        return {"url": checkout.as_uri(), "dir_info": {}}
    if not noted:
        return None
    origin: dict[str, Any] = json.loads(noted)
    return origin


def _folder(url: str) -> str:
    """The folder that a file URL names."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return url2pathname(urlsplit(url).path)
