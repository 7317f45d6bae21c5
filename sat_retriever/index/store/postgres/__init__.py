"""Store records, tokens, links and words in a schema of a PostgreSQL database."""
