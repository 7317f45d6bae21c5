"""Servers in this process that speak the documented JSON of Microsoft Graph and Google Drive."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

SECRET = "client-secret-7f3a"
KEY = "preauthenticated-key-9c1d"  # opens a file of Graph by itself
DAY = "2026-01-{:02}T00:00:00Z"


@dataclass(frozen=True)
class Request:
    """What came in; `token` is what its header names."""

    method: str
    path: str
    query: Mapping[str, str]
    token: str
    form: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """What goes out: JSON or bytes; `cut` ends the connection after so many bytes.

    An answer of no length has the header Content-Length empty, and ends with the connection.
    """

    status: int = 200
    body: bytes | dict[str, Any] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None


@dataclass
class Entry:
    """A folder or file."""

    id: str
    name: str
    parent: str
    content: bytes | None = None  # None for a folder
    mime: str = ""
    leads_to: str = ""  # id of what a shortcut leads to
    day: int = 1  # of its last change
    lies: Mapping[str, Any] = field(default_factory=dict)  # fields that the server tells wrong


class Cloud:
    """A tree of entries below `root`, behind an address. Its answers can be spoilt."""

    prefix = ""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.sent = 0  # bytes of files
        self.slept: list[float] = []  # seconds that a client waited
        self.spoil: Callable[[Request], Answer | None] = lambda _: None
        self.page = 2  # entries of a page, whatever was asked for
        self.address = ""
        self.logins = 0
        self.token = ""  # the valid one
        self.entries = {"root": Entry("root", "root", "")}
        self._ids = count(1)
        self._days = count(2)

    @property
    def url(self) -> str:
        """The URL of the root."""
        raise NotImplementedError

    def environment(self, folder: Path) -> dict[str, str]:
        """Settings of one who may read it; files that they name lie in the folder."""
        raise NotImplementedError

    def answer(self, request: Request) -> Answer:
        raise NotImplementedError

    def is_download(self, request: Request) -> bool:
        raise NotImplementedError

    def put(self, path: str, content: bytes, **fields: Any) -> Entry:
        """A new file, or a new content of the one that is there; folders are made."""
        *folders, name = path.split("/")
        parent = self.folder("/".join(folders))
        same = [e for e in self.entries.values() if (e.parent, e.name) == (parent.id, name)]
        if not same:
            return self.add(name, parent.id, content=content, **fields)
        same[0].content, same[0].day = content, next(self._days)
        return same[0]

    def folder(self, path: str) -> Entry:
        """The folder at a path, made if there is none."""
        now = self.entries["root"]
        for name in filter(None, path.split("/")):
            below = [e for e in self.entries.values() if (e.parent, e.name) == (now.id, name)]
            now = below[0] if below else self.add(name, now.id)
        return now

    def add(self, name: str, parent: str = "root", **fields: Any) -> Entry:
        """One more entry, even if another has its name."""
        key = f"id-{next(self._ids)}"
        self.entries[key] = Entry(key, name, parent, **fields)
        return self.entries[key]

    def listings(self) -> int:
        """Requests so far that asked for entries of a folder."""
        return sum(each.path.endswith(("/children", "/files")) for each in self.requests)

    def delete(self, entry: Entry) -> None:
        del self.entries[entry.id]

    def children(self, key: str) -> list[Entry]:
        return [each for each in self.entries.values() if each.parent == key]

    def downloads(self) -> int:
        """Bytes of files that were sent since the last call."""
        found, self.sent = self.sent, 0
        return found

    def expire(self) -> None:
        """Accept no token that was given out before."""
        self.token = "expired-on-the-server"

    def login(self) -> Answer:
        self.logins += 1
        self.token = f"access-token-{self.logins}-5e0b"
        return Answer(body={"access_token": self.token, "expires_in": 3599, "token_type": "Bearer"})

    def handle(self, request: Request) -> Answer:
        self.requests.append(request)
        return self.spoil(request) or self.answer(request)


class Graph(Cloud):
    """Drives of Microsoft Graph: site Finance with two libraries, and the OneDrive of Ann."""

    host = "contoso.sharepoint.com"
    drive = "b!drive-1"

    @property
    def url(self) -> str:
        return f"sharepoint://{self.host}/sites/Finance/Shared Documents"

    def environment(self, folder: Path) -> dict[str, str]:
        return {
            "SAT_GRAPH_URL": f"{self.address}/v1.0",
            "AZURE_AUTHORITY_HOST": self.address,
            "AZURE_TENANT_ID": "contoso",
            "AZURE_CLIENT_ID": "app-1",
            "AZURE_CLIENT_SECRET": SECRET,
        }

    def is_download(self, request: Request) -> bool:
        return request.path.startswith("/files/")

    def answer(self, request: Request) -> Answer:
        if request.path == "/contoso/oauth2/v2.0/token":
            asked = {**request.form}
            right = {"client_id": "app-1", "client_secret": SECRET}.items() <= asked.items()
            scope = f"{self.address}/.default"
            return self.login() if right and asked["scope"] == scope else _refused(401, "invalid")
        if self.is_download(request):
            entry = self.entries[request.path.split("/")[-1]]
            return Answer(
                403 if request.query.get("tempauth") != KEY else 200, entry.content or b""
            )
        if request.token != self.token:
            return _refused(401, "InvalidAuthenticationToken")
        path = unquote(request.path.removeprefix("/v1.0/"))
        if path == f"sites/{self.host}:/sites/Finance:/drives":
            web = f"https://{self.host}/sites/Finance/"
            drives = [("Documents", "Shared%20Documents", self.drive), ("Old", "Archive", "b!2")]
            found = [{"id": key, "name": name, "webUrl": web + at} for name, at, key in drives]
            return Answer(body={"value": found})
        for start in (f"drives/{self.drive}/", "users/ann@contoso.com/drive/"):
            if path.startswith(start):
                return self._item(request, path.removeprefix(start))
        return _refused(404, "itemNotFound")

    def _item(self, request: Request, path: str) -> Answer:
        if path.startswith("items/"):
            key, _, more = path.removeprefix("items/").partition("/")
        else:
            key, more = self._key(path.removeprefix("root").removeprefix(":/")), ""
        if key not in self.entries:
            return _refused(404, "itemNotFound")
        if more == "children":
            return self._children(request, key)
        return Answer(body=self._told(self.entries[key], request.query.get("$select", "")))

    def _children(self, request: Request, key: str) -> Answer:
        start = int(request.query.get("$skiptoken", "0"))
        listed = self.children(key)
        fields = request.query.get("$select", "")
        told = [self._told(each, fields) for each in listed[start : start + self.page]]
        body: dict[str, Any] = {"value": told}
        if start + self.page < len(listed):
            link = f"{self.address}{request.path}?$select={fields}&$skiptoken="
            body["@odata.nextLink"] = f"{link}{start + self.page}"
        return Answer(body=body)

    def _key(self, path: str) -> str:
        now = "root"
        for name in filter(None, path.split("/")):
            now = next((e.id for e in self.children(now) if e.name == name), "none")
        return now

    def _told(self, entry: Entry, select: str) -> dict[str, Any]:
        content = entry.content
        told: dict[str, Any] = {
            "id": entry.id,
            "name": entry.name,
            "eTag": f'"{{{entry.id}}},{entry.day}"',
            "lastModifiedDateTime": DAY.format(entry.day),
            "webUrl": f"https://{self.host}/sites/Finance/x",
        }
        if content is None:
            told |= {"folder": {"childCount": len(self.children(entry.id))}, "size": 0}
        else:
            # Another host name of the same server, as content of a drive comes from elsewhere.
            elsewhere = self.address.replace("127.0.0.1", "localhost")
            told |= {
                "file": {"mimeType": "application/octet-stream"},
                "size": len(content),
                "cTag": f'"c:{hashlib.sha1(content).hexdigest()}"',
                "@microsoft.graph.downloadUrl": f"{elsewhere}/files/{entry.id}?tempauth={KEY}",
            }
        told |= entry.lies
        return {n: v for n, v in told.items() if not select or n in select.split(",")}


class Drive(Cloud):
    """Google Drive: a shared folder by its id, read by a service account."""

    key = RSAKey.generate_key(2048)
    folder_id = "0AshareFolder_1"

    def __init__(self) -> None:
        super().__init__()
        self.entries = {"root": Entry("root", "My Drive", "")}
        self.entries[self.folder_id] = Entry(self.folder_id, "Reports", "root")

    @property
    def url(self) -> str:
        return f"gdrive://{self.folder_id}"

    def environment(self, folder: Path) -> dict[str, str]:
        account = {
            "type": "service_account",
            "client_email": "reader@project.example",
            "private_key": self.key.as_pem(private=True).decode(),
            "token_uri": f"{self.address}/token",
        }
        (folder / "key.json").write_text(json.dumps(account))
        return {
            "SAT_DRIVE_URL": f"{self.address}/drive/v3",
            "GOOGLE_APPLICATION_CREDENTIALS": str(folder / "key.json"),
        }

    def is_download(self, request: Request) -> bool:
        return request.query.get("alt") == "media" or request.path.endswith("/export")

    def folder(self, path: str) -> Entry:
        now = self.entries[self.folder_id]
        for name in filter(None, path.split("/")):
            below = [e for e in self.children(now.id) if e.name == name]
            now = below[0] if below else self.add(name, now.id)
        return now

    def add(self, name: str, parent: str = folder_id, **fields: Any) -> Entry:
        return super().add(name, parent, **fields)

    def answer(self, request: Request) -> Answer:
        if request.path == "/token":
            claims = jwt.decode(request.form["assertion"], self.key).claims
            readonly = claims["scope"].endswith("/drive.readonly")
            return self.login() if readonly else _google(400, "invalid_scope")
        if request.token != self.token:
            return _google(401, "authError")
        _, _, key = request.path.removeprefix("/drive/v3/").partition("/")
        if not key:
            return self._listed(request)
        key, _, more = key.partition("/")
        if key not in self.entries:
            return _google(404, "notFound")
        entry = self.entries[key]
        if more == "export":
            native = entry.mime.endswith(".spreadsheet")
            return (
                Answer(body=entry.content or b"") if native else _google(403, "fileNotExportable")
            )
        if request.query.get("alt") == "media":
            native = entry.content is None or entry.mime.startswith("application/vnd.google-apps.")
            return _google(403, "fileNotDownloadable") if native else Answer(body=entry.content)
        return Answer(body=self._told(entry))

    def _listed(self, request: Request) -> Answer:
        parent = request.query["q"].split("'")[1]
        start = int(request.query.get("pageToken", "page-0").removeprefix("page-"))
        listed = self.children(parent)
        body: dict[str, Any] = {
            "incompleteSearch": False,
            "files": [self._told(each) for each in listed[start : start + self.page]],
        }
        if start + self.page < len(listed):
            body["nextPageToken"] = f"page-{start + self.page}"
        return Answer(body=body)

    def _told(self, entry: Entry) -> dict[str, Any]:
        own = "application/vnd.google-apps."
        told: dict[str, Any] = {
            "id": entry.id,
            "name": entry.name,
            "mimeType": entry.mime or ("text/csv" if entry.content is not None else f"{own}folder"),
            "modifiedTime": DAY.format(entry.day),
            "trashed": False,
        }
        if entry.leads_to:
            target = self.entries.get(entry.leads_to)
            kind = self._told(target)["mimeType"] if target else "text/csv"
            details = {"targetId": entry.leads_to, "targetMimeType": kind}
            told |= {"mimeType": f"{own}shortcut", "shortcutDetails": details}
        elif entry.content is not None and not entry.mime:
            digest = hashlib.md5(entry.content).hexdigest()
            told |= {"size": str(len(entry.content)), "md5Checksum": digest}
        return told | entry.lies


def _refused(status: int, code: str) -> Answer:
    return Answer(status, {"error": {"code": code, "message": f"No. {SECRET}"}})


def _google(status: int, reason: str) -> Answer:
    errors = [{"domain": "global", "reason": reason, "message": "No."}]
    return Answer(status, {"error": {"code": status, "message": "No.", "errors": errors}})


@contextmanager
def served(cloud: Cloud) -> Iterator[Cloud]:
    """The cloud behind a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._serve({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._serve(dict(parse_qsl(body.decode())))

        def _serve(self, form: dict[str, str]) -> None:
            parts = urlsplit(self.path)
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            query = dict(parse_qsl(parts.query))
            request = Request(self.command, parts.path, query, token, form)
            answer = cloud.handle(request)
            body = (
                answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            )
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(body)), **answer.headers}.items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            if cloud.is_download(request):
                cloud.sent += len(body)
            self.wfile.write(body[: answer.cut])
            if answer.cut is not None or "Content-Length" in answer.headers:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    cloud.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield cloud
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
