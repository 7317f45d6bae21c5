"""Put candidates in a better order: Stage 2."""
