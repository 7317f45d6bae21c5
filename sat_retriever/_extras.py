"""Import optional dependencies; name a missing one with the command that installs it.

The package is on no package index, so the command names its checkout or the missing packages.
"""

from __future__ import annotations

import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sat_retriever.errors import MissingExtraError

if TYPE_CHECKING:
    from importlib import metadata

_PACKAGE = "sat-retriever"


def require(module: str, extra: str) -> ModuleType:
    """Return an optional module, imported.

    Args:
        module: Dotted name, for example "torch".
        extra: The extra of this package that installs it, for example "minilm".

    Raises:
        MissingExtraError: If the module is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{module} is not installed; run: {install_command(extra)}"
        ) from error


def install_command(extra: str) -> str:
    """Return the command that installs an extra, whichever way this package was installed.

    An extra is installed from the folder that this package was installed from. If there is no such
    folder, for example after an installation from a wheel, the command names the extra's packages.
    """
    # Only a missing package needs these: importing them takes a fiftieth of a second.
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        installed = metadata.distribution(_PACKAGE)
    except metadata.PackageNotFoundError:  # the sources are imported from their checkout
        return _from_folder(Path(__file__).resolve().parents[1], extra, editable=True)
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    folder = Path(url2pathname(urlsplit(origin.get("url", "")).path))
    if "dir_info" in origin and folder.is_dir():
        return _from_folder(folder, extra, editable=origin["dir_info"].get("editable", False))
    return f"pip install {shlex.join(_packages(installed, extra))}"


def _from_folder(folder: Path, extra: str, *, editable: bool) -> str:
    flag = "-e " if editable else ""
    return f"pip install {flag}{shlex.quote(f'{folder}[{extra}]')}"


def _packages(installed: metadata.Distribution, extra: str) -> list[str]:
    """Return the requirements of an extra, each with its versions."""
    own = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    split = (requirement.partition(";") for requirement in installed.requires or ())
    return [name.strip() for name, _, marker in split if own.search(marker)]
