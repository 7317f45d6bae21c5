"""The paper's measurements, on its corpora and on Spider, and its own figures."""
