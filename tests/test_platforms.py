"""What only some systems have is used in named modules alone, and the docs name them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.places import ROOT

PAGE = ROOT / "docs" / "about" / "platforms.md"
CODE = [
    file
    for folder in ("sat_retriever", "integrations", "examples")
    for file in sorted((ROOT / folder).rglob("*.py"))
    if "tests" not in file.relative_to(ROOT).parts
]
MODULES = "fcntl grp msvcrt posix pwd resource syslog termios tty winreg".split()
NAMES = re.compile(
    r"os\.(fork\w*|kill\w*|getuid|geteuid|getgid|setsid|chown|fchmod|mkfifo|sysconf|statvfs|"
    r"sched_\w+|posix_\w+|memfd_create|pipe2|uname|O_NONBLOCK|O_CLOEXEC|O_NOFOLLOW|O_DIRECTORY)|"
    r"signal\.(SIGHUP|SIGKILL|SIGQUIT|SIGUSR\d|SIGALRM|SIGCHLD|SIGPIPE|alarm|pthread_\w+)|"
    r"socket\.(AF_UNIX|SO_REUSEPORT)|.+\.add_signal_handler"
)
FILES = re.compile(r"^/(proc|sys|dev)/")


def uses(tree: ast.AST) -> Iterator[str]:
    """Each use of a module, a name or a file that not every system has."""
    texts = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield node.module
        elif isinstance(node, ast.Attribute) and NAMES.fullmatch(ast.unparse(node)):
            yield ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in texts:
            if FILES.match(node.value):
                yield node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("hasattr", "getattr"):
            asked = ".".join(map(ast.unparse, node.args[:2])).replace("'", "")
            if NAMES.fullmatch(asked):
                yield asked


def docstrings(tree: ast.AST) -> list[ast.expr]:
    """Constants that are statements of their own."""
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]


def named_places() -> dict[str, str]:
    """By the module that the page names: its row."""
    rows = re.findall(r"^\| `([\w/.]+)` \| (.+?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    return dict(rows)


def found_places() -> dict[str, set[str]]:
    """By module: what it uses that not every system has."""
    found = {}
    for file in CODE:
        used = set(uses(ast.parse(file.read_text(encoding="utf-8"))))
        if used:
            found[file.relative_to(ROOT).as_posix()] = used
    return found


def test_only_the_named_modules_use_what_some_systems_lack_and_the_page_says_what():
    found, named = found_places(), named_places()
    assert sorted(found) == sorted(named)
    unsaid = {
        place: [use for use in found[place] if f"`{use}`" not in named[place]] for place in found
    }
    assert {place: uses for place, uses in unsaid.items() if uses} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import resource",
        "from fcntl import flock",
        "import os\nos.fork()",
        "import signal\nsignal.signal(signal.SIGHUP, f)",
        'open("/proc/self/status")',
        'hasattr(os, "getuid")',
        "loop.add_signal_handler(2, f)",
    ],
)
def test_each_kind_of_use_is_seen(code):
    assert list(uses(ast.parse(code)))


def test_words_in_docstrings_are_no_uses():
    assert list(uses(ast.parse('"""/proc/self/status"""\nimport os\nos.link'))) == []


def test_text_files_are_written_and_read_in_an_encoding_that_is_named():
    """The default is that of the user's language on Windows."""
    unnamed = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in CODE
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("read_text", "write_text")
        if "encoding" not in {each.arg for each in node.keywords}
        if len(node.args) < (1 if node.func.attr == "read_text" else 2)
    ]
    assert unnamed == []
