"""A library that shifts the clock of a process by the seconds that stand in a file."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SHIFT = "SAT_OPERATE_SHIFT"  # names the file in the environment
_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
static volatile long *shift;
__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("SAT_OPERATE_SHIFT"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *found = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) shift = found;
}
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int said = real(id, at);
    if (!said && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        at->tv_sec += *shift;
    return said;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec found;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &found)) return -1;
    at->tv_sec = found.tv_sec;
    at->tv_usec = found.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *at) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (at) *at = found.tv_sec;
    return found.tv_sec;
}
"""


def shifting_library(home: Path) -> Path | None:
    """Return a library that shifts the clock of a process; None without Linux and a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return None
    source, library = home / "clock.c", home / "clock.so"
    source.write_text(_CLOCK)
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"]
    done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else library
