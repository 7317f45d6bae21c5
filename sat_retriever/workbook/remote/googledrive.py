"""Folders and shared drives of Google Drive; Google's own spreadsheets are exported as xlsx."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

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

ADDRESS = "https://www.googleapis.com/drive/v3"

_TOKEN = "SAT_DRIVE_TOKEN"
_KEY_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
_SCOPE = "https://www.googleapis.com/auth/drive.readonly"
_FIELDS = "id,name,mimeType,size,md5Checksum,modifiedTime,trashed,shortcutDetails"
_PAGE = "1000"
_TYPE = "application/vnd.google-apps."
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_ID = re.compile(r"[\w-]{1,200}", re.ASCII)
_MOST_KNOWN = 200_000  # paths whose ids are kept


class GoogleDrive(ItemTree):
    """`gdrive://FOLDER-ID/path`: a folder or shared drive by its id, and a path of names below it.

    Drive knows no paths. Ids of listed items are kept, so that a listed file is found at once;
    any other path is found folder by folder.

    Args:
        base: Address of the API.
    """

    def __init__(self, base: str) -> None:
        super().__init__(Rest(base, _login))
        self._known: dict[str, Items] = {}

    def _find(self, path: str) -> Items:
        known = self._known.get(path, ())
        with suppress(FileNotFoundError):
            now = [self._asked(each.id) for each in known]
            if now and [each.name for each in now] == [each.name for each in known]:
                return tuple(now)
        return self._found(path)

    def _found(self, path: str) -> Items:
        folder, _, name = path.rpartition("/")
        if folder:
            items = self._named(folder, self._find(folder)).get(name, ())
        else:
            items = (self._asked(name),) if _ID.fullmatch(name) else ()
        if not items:
            raise FileNotFoundError(path)
        return items

    def _named(self, path: str, folders: Items) -> dict[str, Items]:
        found = super()._named(path, folders)
        if len(self._known) + len(found) > _MOST_KNOWN:
            self._known.clear()
        self._known.update((f"{path}/{name}", items) for name, items in found.items())
        return found

    def _children(self, folder: Item) -> Iterator[Item]:
        def ask(token: str | None) -> Mapping[str, Any]:
            page = self._rest.json(
                "files",
                q=f"'{folder.id}' in parents and trashed = false",
                fields=f"nextPageToken,incompleteSearch,files({_FIELDS})",
                pageSize=_PAGE,
                supportsAllDrives="true",
                includeItemsFromAllDrives="true",
                **({"pageToken": token} if token else {}),
            )
            if page.get("incompleteSearch"):  # what is left out is not gone
                raise ReasonError("Drive could not list all files; try again later")
            return page

        for page in self._rest.pages(ask, "nextPageToken"):
            for told in page["files"]:
                yield self._read(told)

    def _download(self, path: str, target: str, callback: Any) -> None:
        item = (self._known.get(path) or self._found(path))[0]
        if item.kind is Kind.EXPORTED:
            self._rest.download(
                f"{item.address}/export", target, callback, own=True, mimeType=_XLSX
            )
        else:
            self._rest.download(
                item.address, target, callback, own=True, alt="media", supportsAllDrives="true"
            )

    def _asked(self, key: str) -> Item:
        """The item of an id as it is now; `FileNotFoundError` if it is gone, or in the bin."""
        told = self._rest.json(f"files/{key}", fields=_FIELDS, supportsAllDrives="true")
        if told.get("trashed"):
            raise FileNotFoundError(key)
        return self._read(told)

    def _read(self, told: Mapping[str, Any]) -> Item:
        """The item that an answer describes; for a shortcut to a file, with the file's content."""
        shortcut = told["mimeType"] == f"{_TYPE}shortcut"
        content = self._target(told["shortcutDetails"]) if shortcut else told
        kind = content["mimeType"]
        name, exported = clean_name(told["name"]), kind == f"{_TYPE}spreadsheet"
        # A shortcut to a folder is a file that is none: followed, it could lead anywhere.
        folder = kind == f"{_TYPE}folder" and not shortcut
        for key in (told["id"], content["id"]):
            if not _ID.fullmatch(key):
                raise KeyError("id")
        modified = text_of(content.get("modifiedTime"))
        return Item(
            id=told["id"],
            name=f"{name}.xlsx" if exported else name,
            kind=Kind.EXPORTED if exported else Kind.FOLDER if folder else Kind.FILE,
            address=f"files/{content['id']}",
            size=size_of(content.get("size")),
            version=text_of(content.get("md5Checksum")) or modified,
            modified=modified,
        )

    def _target(self, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a shortcut leads to; its id and type alone, if it is out of reach."""
        target = {"id": details["targetId"], "mimeType": details["targetMimeType"]}
        if target["mimeType"] != f"{_TYPE}folder" and _ID.fullmatch(target["id"]):
            # Only the download of this file fails then, and says why.
            with suppress(FileNotFoundError, ReasonError):
                return self._rest.json(
                    f"files/{target['id']}", fields=_FIELDS, supportsAllDrives="true"
                )
        return target


def _login() -> str | Login:
    if token := os.environ.get(_TOKEN, "").strip():
        return token
    file = os.environ.get(_KEY_FILE, "").strip()
    if not file:
        raise ReasonError(f"no credentials were found; set {_KEY_FILE}, or {_TOKEN}")
    now = int(time.time())
    try:
        account = json.loads(Path(file).read_bytes())
        at = account.get("token_uri", "https://oauth2.googleapis.com/token")
        claims = {"iss": account["client_email"], "scope": _SCOPE, "aud": at}
        signed = jwt.encode(
            {"alg": "RS256", "typ": "JWT"},
            {**claims, "iat": now, "exp": now + 3600},
            RSAKey.import_key(account["private_key"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, JoseError):
        # Nothing of the file is shown, which may be any file.
        raise ReasonError(f"{_KEY_FILE} names no key file of a service account") from None
    return Login(
        at, {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": signed}
    )
