"""What the paper measures, on its corpora and on Spider, with its own figures."""
