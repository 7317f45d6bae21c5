"""Command-line options made from the fields of a settings dataclass, so that both agree."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from sat_retriever.errors import InputError
from sat_retriever.train.settings import Schedule

Settings = TypeVar("Settings")
Command = TypeVar("Command", bound=Callable[..., Any])

_ABSENT = {int: "all", float: "own"}  # spelling of None, by the field's other type
PAPER = "Settings, with the paper's values"
NOTHING = "none"  # spelling of an empty list
_ATTRIBUTE = re.compile(r"^ {8}(\w+): (.+(?:\n {12}.+)*)", re.MULTILINE)
_METAVARS = {int: "N", float: "X", str: "NAME"}


def with_options(
    settings: Mapping[str, Any], *, also: Callable[..., Any] | None = None, panel: str = PAPER
) -> Callable[[Command], Command]:
    """Make a decorator that turns a command's `**given` into options.

    An option that is not given is None, so that a preset's value stays.

    Args:
        settings: Defaults by the name of what they are of: dataclasses with a documented
            `Attributes:` section. Each field is an option; one of several of them is one option.
        also: A function whose parameters become options too, except those named like a field.
        panel: Heading of the settings; with several, each group of names has one of its own.
    """

    def decorate(command: Command) -> Command:
        owners: dict[str, dict[str, Any]] = {}
        for name, each in settings.items():
            for field in fields(each):
                owners.setdefault(field.name, {})[name] = each
        made = [
            _parameter(field, of, panel if len(settings) == 1 else f"Settings of {', '.join(of)}")
            for field, of in owners.items()
        ]
        others = [each for each in _own(also) if each.name not in owners] if also else []
        every = [*_own(command), *others, *made]
        command.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in every}
        return command

    return decorate


def _own(function: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    named = (
        each
        for each in inspect.signature(function).parameters.values()
        if each.kind is not inspect.Parameter.VAR_KEYWORD
    )
    return [
        each.replace(annotation=hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for each in named
    ]


def part_of(given: Mapping[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """The given values that are parameters of a function."""
    names = inspect.signature(function).parameters
    return {name: value for name, value in given.items() if name in names}


def settings_of(start: Settings, given: Mapping[str, Any]) -> Settings:
    """The settings with the given values, converted to the types of their fields.

    Args:
        given: Values by field; None and names that are not fields are ignored.
    """
    kind = type(start)
    hints = get_type_hints(kind)
    wanted = {
        each.name: _read(hints[each.name], given[each.name], option_name(each.name))
        for each in fields(kind)  # type: ignore[arg-type]
        if given.get(each.name) is not None
    }
    return replace(start, **wanted)  # type: ignore[type-var]


def option_name(field: str) -> str:
    """The option of a field.

    >>> option_name("learning_rate")
    '--learning-rate'
    """
    return "--" + field.replace("_", "-")


def field_help(kind: type, name: str) -> str:
    """First sentence of a field's documentation, in the class's or `Schedule`'s docstring."""
    for each in (kind, Schedule):
        for found, text in _ATTRIBUTE.findall(each.__doc__ or ""):
            if found == name and not text.startswith("See `"):
                words = " ".join(text.split()).replace("`", "").replace("[", r"\[")
                return re.split(r"(?<=[.;]) ", words)[0].rstrip(".;") + "."
    return ""


def shown(value: Any) -> str:
    """A value as it is written on the command line.

    >>> shown(None), shown(()), shown(("a", "b")), shown(0.0002), shown(True)
    ('all', 'none', 'a,b', '0.0002', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or NOTHING
    return _ABSENT[int] if value is None else str(value)


# ---- inner workings


def _parameter(name: str, owners: Mapping[str, Any], panel: str) -> inspect.Parameter:
    """The option of a field; its owners are the settings that have it, by their names."""
    kind = type(next(iter(owners.values())))
    hint = get_type_hints(kind)[name]
    given, metavar = _taken(hint)
    names = [option_name(name)]
    if hint is bool:
        names = [f"{names[0]}/--no-{names[0].removeprefix('--')}"]
    option = typer.Option(
        *names,
        help=rf"{field_help(kind, name)} [dim]\[{_defaults(name, owners)}][/dim]",
        metavar=metavar,
        show_default=False,
        rich_help_panel=panel,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[given | None, option],
    )


def _defaults(name: str, owners: Mapping[str, Any]) -> str:
    """The default of a field, with the names of its owners where these differ in it."""
    values = {owner: shown(getattr(each, name)) for owner, each in owners.items()}
    if len(set(values.values())) == 1:
        return next(iter(values.values())).replace("[", r"\[")
    return ", ".join(f"{owner} {value}" for owner, value in values.items())


def _taken(hint: Any) -> tuple[Any, str | None]:
    """The type that the command line takes for a field, and the metavar for its value."""
    if get_origin(hint) is Literal:
        return hint, "NAME"  # listing all choices would widen the column; the help names them
    if get_origin(hint) is tuple:
        return str, f"{_METAVARS[get_args(hint)[0]]},…"
    if NoneType in get_args(hint):
        inner = next(each for each in get_args(hint) if each is not NoneType)
        return str, f"{_METAVARS[inner]}|{_ABSENT[inner]}"
    return hint, None if hint is bool else _METAVARS[hint]


def _read(hint: Any, value: Any, option: str) -> Any:
    if get_origin(hint) is tuple:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        return (
            ()
            if parts == [NOTHING]
            else tuple(_number(get_args(hint)[0], part, option) for part in parts)
        )
    if NoneType in get_args(hint):
        inner = next(each for each in get_args(hint) if each is not NoneType)
        return None if value == _ABSENT[inner] else _number(inner, value, option)
    return value


def _number(kind: Any, text: str, option: str) -> Any:
    try:
        return kind(text)
    except ValueError as error:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{option}: {text!r} is not {what}") from error
