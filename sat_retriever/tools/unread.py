"""Objects of a framework whose text is read from its workbook when somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

# Python looks these up on the class, or they tell of it; `__dict__` and the text are beside them.
_WHOLE = ("__copy__", "__deepcopy__", "__delattr__", "__reduce_ex__", "__repr__", "__setattr__")


class _Later:
    """A text that is read once, by whoever asks first."""

    def __init__(self, read: Callable[[], str]) -> None:
        self._read: Callable[[], str] | None = read
        self._lock = Lock()
        self._text = ""

    def text(self) -> str:
        with self._lock:
            if self._read is not None:
                self._text = self._read()
                self._read = None  # the hit is needed no longer
        return self._text


def unread(plain: type[T], field: str) -> Callable[[T, Callable[[], str]], T]:
    """Return a function that puts a text into an object unread: `put(node, read)`.

    The object becomes one of a subclass until somebody looks at the text, or at the object as a
    whole: compares, copies, pickles, changes or serializes it, or walks over its fields. Then the
    text is read, once, and it is of its own class again. If reading fails, that look raises the
    error, and the next one tries again.

    Args:
        plain: A Pydantic model.
        field: The field of the text.
    """
    values = next(vars(each)["__dict__"] for each in plain.__mro__ if "__dict__" in vars(each))

    def filled(model: Any) -> Any:
        held = values.__get__(model)
        if isinstance(held[field], _Later):
            held[field] = held[field].text()
        object.__setattr__(model, "__class__", plain)
        return model

    def first_filled(name: str) -> Callable[..., Any]:
        return lambda self, *args: getattr(filled(self), name)(*args)

    # Serializers, `vars` and Pydantic's own methods take all values from `__dict__`.
    members = {name: first_filled(name) for name in _WHOLE} | {
        "__module__": plain.__module__,
        "__doc__": plain.__doc__,
        "__dict__": property(lambda self: vars(filled(self))),
        "__eq__": lambda self, other: filled(self) == other,
    }
    metaclass: Any = type(plain)
    kind = metaclass(plain.__name__, (plain,), members)
    setattr(kind, field, property(lambda self: getattr(filled(self), field)))

    def put(model: T, read: Callable[[], str]) -> T:
        values.__get__(model)[field] = _Later(read)
        object.__setattr__(model, "__class__", kind)
        return model

    return put
