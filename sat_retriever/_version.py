"""The version of this package, as it was installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("sat-retriever")
except PackageNotFoundError:  # a copy on the path that nobody installed
    __version__ = "0+unknown"
