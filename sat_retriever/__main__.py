"""Run the command `sat` with `python -m sat_retriever`."""

from sat_retriever.cli import main

if __name__ == "__main__":
    main()
