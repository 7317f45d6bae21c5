"""One self-contained HTML page: no network, no other file, no script but its own.

    template, style and scripts of a folder `viewer` + data -> the text of the page

Data is embedded as ASCII JSON without "<", ">" and "&", so that nothing in it can be taken for
markup. The page's content security policy allows its own script and style, by their hashes, and
no request of any kind.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

# Embeddings, overrides and isolates: each changes the direction of what follows it. The marks that
# texts from right to left are written with change no other sign, and stay.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def one_page(package: str, scripts: Sequence[str], *, title: str, data: Any) -> str:
    """HTML of a page whose parts are in the folder `viewer` of a package.

    Args:
        package: Dotted name; its `viewer` has `page.html`, `style.css` and the scripts.
        scripts: Names of the scripts in their order; `shared.js` of this package precedes them, as
            `shared.css` precedes the style.
        title: Name of the page, untrusted text.
        data: Data for the scripts, written as JSON; strings in it are untrusted.
    """
    own = files(package) / "viewer"
    shared = files("sat_retriever.pages") / "viewer"
    parts = (shared / "shared.js", *(own / name for name in scripts))
    code = "\n".join(map(_text, parts))
    return filled(
        _text(own / "page.html"),
        title=title,
        style=_text(shared / "shared.css") + _text(own / "style.css"),
        script=f'(() => {{\n"use strict";\n{code}}})();\n',
        data=data,
    )


def unturned(text: str) -> str:
    r"""The text with a replacement sign for each control that turns the direction of writing.

    With them a file `\u202efdp.exe` is shown as `exe.pdf`, and a number by its digits reversed.

    >>> unturned("\u202efdp.exe")
    '�fdp.exe'
    """
    return _TURNS.sub("\ufffd", text)


def policy_of(page: str) -> str:
    """The content security policy of a page, for a server that sends it as a header, too."""
    return page.partition('Content-Security-Policy" content="')[2].partition('"')[0]


def filled(template: str, *, title: str, style: str, script: str, data: Any) -> str:
    r"""Fill %CSP%, %TITLE%, %STYLE%, %SCRIPT% and %DATA% in a template.

    Args:
        template: The page; it has each placeholder once.

    >>> page = filled("%TITLE% %DATA%", title="<b>", style="", script="", data=["</p>"])
    >>> page == '&lt;b&gt; ["\\u003c/p\\u003e"]'
    True
    """
    parts = {
        "CSP": _policy(script, style),
        "TITLE": html.escape(title.encode("utf-8", "replace").decode()),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": json.dumps(data, separators=(",", ":")).translate(_ESCAPED),
    }
    # In one pass, so that a "%DATA%" inside a part is never taken for a placeholder.
    return re.sub("%([A-Z]+)%", lambda place: parts[place[1]], template)


def _text(part: Traversable) -> str:
    return part.read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    """A content security policy that allows this script and style, and nothing else."""
    allowed = [
        f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for kind, text in (("script", script), ("style", style))
    ]
    rest = ("img-src data:", "base-uri 'none'", "form-action 'none'")
    return "; ".join(("default-src 'none'", *allowed, *rest))
