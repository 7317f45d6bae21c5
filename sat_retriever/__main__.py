"""`python -m sat_retriever` is `sat`."""

from sat_retriever.cli import main

if __name__ == "__main__":
    main()
