"""One HTML page that needs nothing else: no network, no other file, no script but its own.

Data reaches a page as JSON in ASCII without "<", ">" and "&", so that nothing in it can be
taken for markup; the page's policy allows its own script and style, by their hashes, and no
request of any kind.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from typing import Any

_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def one_page(template: str, *, title: str, style: str, script: str, data: Any) -> str:
    r"""A template with its parts in place of %CSP%, %TITLE%, %STYLE%, %SCRIPT% and %DATA%.

    Args:
        template: The page; it has each of these once.
        title: Name of the page, untrusted text.
        style: Its style sheet.
        script: Its script.
        data: What the script reads, as JSON; strings in it are untrusted.

    >>> page = one_page("%TITLE% %DATA%", title="<b>", style="", script="", data=["</p>"])
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
    # In one pass: a "%DATA%" inside a part is never taken for a place to fill.
    return re.sub("%([A-Z]+)%", lambda place: parts[place[1]], template)


def _policy(script: str, style: str) -> str:
    """A content security policy that allows this script and style, and nothing else."""
    allowed = [
        f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for kind, text in (("script", script), ("style", style))
    ]
    rest = ("img-src data:", "base-uri 'none'", "form-action 'none'")
    return "; ".join(("default-src 'none'", *allowed, *rest))
