"""The members of a group of copies: newest first, and the one that a question names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sat_retriever.links.copies.versions import PLAIN, Version, version_of
from sat_retriever.text.period.spellings import plain

_NOUN = (
    r"(?:version|copy|copies|draft|export|file|state|edition|release|revision|one|fassung|"
    r"stand|datei|version|fichier|versione|versi[oó]n)"
)
_OLDEST = re.compile(rf"(?<!\w)(?:oldest|original|first|alteste|erste|premiere) {_NOUN}|最早|原版")
_PREVIOUS = re.compile(
    rf"(?<!\w)(?:previous|prior|preceding|last but one|older|earlier|vorige|vorherige|"
    rf"precedente|anterior) {_NOUN}|上一版|上个版本"
)
_HOUR = 3_600 * 10**9  # nanoseconds
_YEARS = 10**8  # of a date as `Version` has it


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group of copies.

    Attributes:
        sheet_id: The sheet.
        versions: Versions that its workbook's name and its own say.
        modified_ns: When its file was modified, nanoseconds since 1970; 0 if that is not known.
        file: Hash of its workbook's bytes; empty if that is not known.
    """

    sheet_id: str
    versions: tuple[Version, Version]
    modified_ns: int = 0
    file: str = ""


def newest_first(members: Sequence[Member]) -> list[Member]:
    """Members by their versions, of equal ones by the time of their files, then by id.

    The hour in which a file was modified goes before the marks of a copy, for the original may
    be worked on after it was copied; files that were unpacked together have one hour.

    Where some names say a date, that of a file counts for the others: a file without a date
    beside saved states is the one that is worked on.
    """
    dated = any(_date(each) for each in members)

    def key(member: Member) -> tuple[object, ...]:
        first, second = member.versions
        date = _date(member) or (_saved_on(member) if dated else 0)
        of_book, of_tab = (each.order() for each in (first, second))
        ages = min(first.age, second.age) or max(first.age, second.age)
        hour = member.modified_ns // _HOUR
        copies = first.copy, second.copy
        return ages, date, of_book[2:-1], of_tab[2:-1], hour, copies, member.modified_ns

    by_id = sorted(members, key=lambda each: each.sheet_id)
    return sorted(by_id, key=key, reverse=True)


def named(question: str, ordered: Sequence[Member]) -> Member | None:
    """The member that a question names by its version; None if it names none.

    Args:
        question: The question.
        ordered: The members, newest first.
    """
    _rest, asked = version_of(question)
    if asked != PLAIN:
        scored = [(_agreement(asked, each), -place) for place, each in enumerate(ordered)]
        best, place = max(scored, default=(0, 0))
        if best > 0 and best > min(score for score, _place in scored):
            return ordered[-place]
    text = plain(question)
    if _OLDEST.search(text):
        return ordered[-1]
    if _PREVIOUS.search(text) and len(ordered) > 1:
        return ordered[1]
    return None


def _agreement(asked: Version, member: Member) -> int:
    """How much of a version that is asked for a member has; below 0 if it says another one."""
    own = member.versions
    score = 0
    if asked.number:
        numbers = [each.number for each in own if each.number]
        score += max((_likeness(asked.number, each) for each in numbers), default=0)
    if asked.date:
        dates = [each.date for each in own if each.date] or [_saved_on(member)]
        score += 8 if any(_same_day(asked.date, date) for date in dates) else -8
    for name, weight in (("stage", 4), ("age", 4), ("copy", 2)):
        wanted = getattr(asked, name)
        if wanted:
            score += weight * any(getattr(each, name) == wanted for each in own)
    if asked.stage and asked.stage_number:
        score += any(each.stage_number == asked.stage_number for each in own)
    return score


def _likeness(asked: tuple[int, ...], own: tuple[int, ...]) -> int:
    """8 for a number that is asked for, 6 for a part of it ("v2" of "v2.1"), -8 for another."""
    if _trimmed(asked) == _trimmed(own):
        return 8
    return 6 if own[: len(asked)] == asked else -8


def _trimmed(number: tuple[int, ...]) -> str:
    return ".".join(map(str, number)).removesuffix(".0")


def _same_day(asked: int, date: int) -> bool:
    if asked < _YEARS:  # no year is named
        date %= _YEARS
    return asked // 10_000 == date // 10_000 and (asked % 10_000 in (0, date % 10_000))


def _date(member: Member) -> int:
    return max(each.date for each in member.versions)


def _saved_on(member: Member) -> int:
    """Day and minute of a file's time, as `Version.date` has them; 0 if it is not known."""
    if member.modified_ns <= 0:
        return 0
    seconds = min(member.modified_ns // 1_000_000_000, 253_402_300_799)
    return int(f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d%H%M}")
