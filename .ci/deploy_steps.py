"""What an operator does, step by step: index, serve, follow, back up, restore, upgrade."""

from __future__ import annotations

import json
import lzma
import runpy
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from deploy_parts import POLL_S, Parts
from distributions import ROOT

Step = Callable[[str], AbstractContextManager[dict[str, Any]]]
QUESTION = "sales in the South in February"
NEW = ("Canteen menu.csv", "Dish,Calories,Price\nLentil soup,310,4.20\n", "calories of a dish")


def follow(parts: Parts, step: Step) -> None:
    """Index a folder, serve it, follow a new workbook, back up, lose the index, and restore it."""
    made = runpy.run_path(str(ROOT / "examples" / "demo_workbooks.py"))
    made["write_workbooks"](parts.work / "workbooks")
    with step("the indexer reads the workbooks into PostgreSQL") as found:
        parts.start("indexer", "--poll", POLL_S)
        check = parts.services["indexer"]["healthcheck"]["test"][1:]
        parts.wait("indexer", lambda: parts.healthy(check))
        parts.wait("indexer", lambda: _sheets(parts) > 0)
        found["sheets"] = _sheets(parts)
    with step("the page is ready by the image's health check"):
        parts.start("page", "--port", str(parts.port))
        parts.wait("page", parts.page_is_ready)
    with step("a search over HTTP") as found:
        best = parts.search(QUESTION)
        found["first"] = best[0]["sheet"]
    with step("a new workbook is found without a restart") as found:
        (parts.work / "workbooks" / NEW[0]).write_text(NEW[1], encoding="utf-8")
        parts.wait("indexer", lambda: NEW[0] in parts.search(NEW[2])[0]["sheet"])
        found["first"] = parts.search(NEW[2])[0]["sheet"]
    _lose_and_restore(parts, step)
    with step("the parts stop by their signals") as found:
        found["page"], found["indexer"] = parts.stop("page"), parts.stop("indexer")
        expect((found["page"], found["indexer"]) == (0, 130), found)


def _lose_and_restore(parts: Parts, step: Step) -> None:
    with step("a backup while page and indexer run") as found:
        told = json.loads(parts.sat(*parts.services["backup"]["command"], "--json"))
        found["bytes"], found["sheets"] = told["bytes"], told["sheets"]
        backup = Path(told["backup"])
        parts.sat("restore", str(backup), "--check")
    before = parts.search(NEW[2])
    with step("the schema is lost, and restored") as found:
        parts.stop("indexer")  # it begins a new index where there is none
        parts.database("DROP SCHEMA sheets CASCADE")
        parts.sat("restore", str(backup))
        parts.start("indexer")
        parts.running["page"].send_signal(signal.SIGHUP)
        parts.wait("page", lambda: _answer(parts, NEW[2]) == before)
        found["sheets"] = _sheets(parts)
    with step("an index that is there is replaced only if asked for"):
        expect("exists already" in parts.sat("restore", str(backup), code=2), "it was not refused")
        parts.sat("restore", str(backup), "--replace")
    with step("the same backup as a file, searched") as found:
        file = "/var/lib/sat/reports.sat"
        parts.sat("restore", str(backup), "--index", file)
        found["first"] = _sheet_ids(parts.sat("search", NEW[2], "--index", file, "--json"))[0]
        expect(NEW[0] in found["first"], found)
    with step("a damaged backup is refused"):
        copy = Path(shutil.copytree(backup, backup.with_name("damaged")))
        data = bytearray((copy / "index.sat").read_bytes())
        data[len(data) // 2] ^= 1
        (copy / "index.sat").write_bytes(data)
        for each in (copy, *copy.iterdir()):
            shutil.chown(each, backup.stat().st_uid, backup.stat().st_gid)
        said = parts.sat("restore", str(copy), "--index", "/var/lib/sat/b.sat", code=1)
        expect("is damaged" in said and not (parts.work / "var/lib/sat/b.sat").exists(), said)


def formats(parts: Parts, step: Step) -> None:
    """Back up, upgrade, search and roll back an index of every format that is kept."""
    for kept in sorted((ROOT / "tests" / "index" / "formats").glob("schema-*")):
        with step(f"upgrade from {kept.name}, and back") as found:
            home = parts.work / "var/lib/sat" / kept.name
            shutil.copytree(kept / "encoder", home / "made" / "encoder")
            file = home / "reports.sat"
            file.write_bytes(lzma.decompress((kept / "index.sat.xz").read_bytes()))
            for each in (home, *home.rglob("*")):
                shutil.chown(each, home.parent.stat().st_uid, home.parent.stat().st_gid)
            place = ("--index", str(file))
            before = _schema(file)
            told = json.loads(parts.sat("backup", "/backups", *place, "--json"))
            hits = parts.sat("search", "salaries of the staff", *place, "--json")
            found["schema"], found["upgraded"] = before, _schema(file)
            parts.sat("restore", told["backup"], *place, "--replace")
            found["rolled_back"] = _schema(file)
            expect(found["rolled_back"] == before, found)
            again = parts.sat("search", "salaries of the staff", *place, "--json")
            expect("Staff.xlsx" in hits and _sheet_ids(again) == _sheet_ids(hits), hits)


def expect(held: bool, found: object) -> None:
    """End the check unless something holds."""
    if not held:
        raise SystemExit(f"not as expected: {found}")


def _answer(parts: Parts, question: str) -> list[dict[str, Any]]:
    try:
        return parts.search(question)
    except OSError:  # the workers are being replaced
        return []


def _sheets(parts: Parts) -> int:
    return int(json.loads(parts.sat("status", "--json"))["sheets"])


def _sheet_ids(text: str) -> list[str]:
    return [hit["sheet_id"] for hit in json.loads(text)["hits"]]


def _schema(file: Path) -> int:
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as found:
        return int(found.execute("PRAGMA user_version").fetchone()[0])
