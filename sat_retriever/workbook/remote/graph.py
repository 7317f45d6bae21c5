"""Document libraries of SharePoint, and OneDrive, through Microsoft Graph."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from sat_retriever.errors import PathNotFoundError
from sat_retriever.workbook.remote.access import Login
from sat_retriever.workbook.remote.items import (
    Item,
    Items,
    ItemTree,
    Kind,
    clean_name,
    size_of,
    text_of,
)
from sat_retriever.workbook.remote.rest import Rest
from sat_retriever.workbook.remote.systems import ReasonError

ADDRESS = "https://graph.microsoft.com/v1.0"

_AUTHORITY = "login.microsoftonline.com"
_TOKEN = "SAT_GRAPH_TOKEN"
_APP = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
# Without the address of its bytes, which opens a file by itself: only a download asks for that.
_FIELDS = "id,name,size,eTag,cTag,file,folder,package,lastModifiedDateTime"
_PAGE = "500"
_NEXT = "@odata.nextLink"
_DOWNLOAD = "@microsoft.graph.downloadUrl"
_SITES = ("sites", "teams", "personal")  # what the path of a site begins with, but for the root's
_NAMED = 20  # libraries that an error names


class GraphTree(ItemTree):
    """Drives of Microsoft Graph; subclasses know which drive a path names.

    Args:
        base: Address of Graph.
    """

    def __init__(self, base: str) -> None:
        super().__init__(Rest(base, lambda: _login(base)))

    @abstractmethod
    def _drive_of(self, path: str) -> tuple[str, str]:
        """Address of a path's drive, and the path in it."""

    def _find(self, path: str) -> Items:
        drive, _ = self._drive_of(path)
        return (self._read(drive, self._rest.json(self._address(path), **{"$select": _FIELDS})),)

    def _children(self, folder: Item) -> Iterator[Item]:
        drive = folder.address.rpartition("/items/")[0]
        for told in self._listed(f"{folder.address}/children", _FIELDS):
            yield self._read(drive, told)

    def _download(self, path: str, target: str, callback: Any) -> None:
        url = self._rest.json(self._address(path)).get(_DOWNLOAD)
        if not url:
            raise ReasonError("it may not be downloaded: Graph gives no address of its bytes")
        self._rest.download(url, target, callback, own=False)

    def _address(self, path: str) -> str:
        drive, below = self._drive_of(path)
        return f"{drive}/root:/{quote(below)}" if below else f"{drive}/root"

    def _listed(self, address: str, fields: str) -> Iterator[Mapping[str, Any]]:
        def ask(link: str | None) -> Mapping[str, Any]:
            asked = {"$select": fields, "$top": _PAGE}
            return self._rest.json(link) if link else self._rest.json(address, **asked)

        for page in self._rest.pages(ask, _NEXT):
            yield from page["value"]

    def _read(self, drive: str, told: Mapping[str, Any]) -> Item:
        # Notebooks are folders, too, which are opened as a whole.
        folder = told.get("folder") is not None and told.get("package") is None
        return Item(
            id=told["id"],
            name=clean_name(told["name"]),
            kind=Kind.FOLDER if folder else Kind.FILE,
            address=f"{drive}/items/{quote(told['id'], safe='')}",
            size=size_of(told.get("size")),
            # cTag changes with the content alone, eTag with names and columns of the library, too.
            version=text_of(told.get("cTag")) or text_of(told.get("eTag")),
            modified=text_of(told.get("lastModifiedDateTime")),
        )


class OneDrive(GraphTree):
    """`onedrive://USER/path` by the owner's sign-in name, `onedrive://DRIVE-ID/path` by the id."""

    def _drive_of(self, path: str) -> tuple[str, str]:
        owner, _, below = path.partition("/")
        key = quote(owner, safe="@")
        return (f"users/{key}/drive" if "@" in owner else f"drives/{key}"), below


class SharePoint(GraphTree):
    """`sharepoint://HOST/sites/SITE/LIBRARY/path`, as a browser shows the address of a folder."""

    def __init__(self, base: str) -> None:
        super().__init__(base)
        self._drives: dict[str, str] = {}

    def _drive_of(self, path: str) -> tuple[str, str]:
        host, *parts = path.split("/")
        length = 2 if parts and parts[0].lower() in _SITES else 0
        site, library, below = "/".join(parts[:length]), parts[length : length + 1], parts[length:]
        key = "/".join([host, site, *library])
        if key not in self._drives:
            self._drives[key] = self._library(host, site, "".join(library))
        return self._drives[key], "/".join(below[1:])

    def _library(self, host: str, site: str, library: str) -> str:
        """Address of a library, by its part of the address or by its title."""
        place = f"sites/{quote(host)}" + (f":/{quote(site)}:" if site else "")
        listed = list(self._listed(f"{place}/drives", "id,name,webUrl"))
        # The part of the address counts first: the title of one may be the address of another.
        parts = {unquote(each["webUrl"].rpartition("/")[2]): each["id"] for each in listed}
        for names in (parts, {each["name"]: each["id"] for each in listed}):
            for name, key in names.items():
                if library.casefold() == name.casefold():
                    return f"drives/{quote(key, safe='')}"
        there = ", ".join(repr(clean_name(each)) for each in list(parts)[:_NAMED]) or "none"
        at = f"sharepoint://{host}/{site}".rstrip("/")
        raise PathNotFoundError(
            f"{at} has no library {library!r}; name one after the site: {there}"
        )


def _login(base: str) -> str | Login:
    if token := os.environ.get(_TOKEN, "").strip():
        return token
    tenant, client, secret = (os.environ.get(name, "").strip() for name in _APP)
    missing = [name for name in _APP if not os.environ.get(name, "").strip()]
    if missing:
        raise ReasonError(f"no credentials were found; set {', '.join(missing)}, or {_TOKEN}")
    authority = os.environ.get("AZURE_AUTHORITY_HOST", "").strip().rstrip("/") or _AUTHORITY
    at = authority if "://" in authority else f"https://{authority}"
    return Login(
        f"{at}/{quote(tenant, safe='')}/oauth2/v2.0/token",
        {
            "grant_type": "client_credentials",
            "client_id": client,
            "client_secret": secret,
            "scope": f"{'/'.join(base.split('/')[:3])}/.default",
        },
    )
