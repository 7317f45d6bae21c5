"""Write the unseen messy tables: `python -m benchmarks.reading.unseen FOLDER`."""

from __future__ import annotations

import argparse

from benchmarks.reading.unseen import write


def main() -> None:
    """Write all files and their truth into the folder that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="gets files/ and truth.jsonl")
    folder = parser.parse_args().folder
    print(f"{write(folder)} files in {folder}")


if __name__ == "__main__":
    main()
