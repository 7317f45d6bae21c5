"""The address space that this process uses, which a limit on its memory starts from."""

from __future__ import annotations

import os


def address_space() -> int:
    """Bytes of address space in use; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
