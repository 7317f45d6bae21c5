"""Optional dependencies are imported here, or the missing one names its install command."""

from importlib import import_module
from types import ModuleType

from sat_retriever.errors import MissingExtraError


def require(module: str, extra: str) -> ModuleType:
    """The imported module.

    Args:
        module: Dotted name, for example "torch".
        extra: The extra of this package that installs it, for example "minilm".

    Raises:
        MissingExtraError: If it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{module} is not installed; run: pip install 'sat-retriever[{extra}]'"
        ) from error
