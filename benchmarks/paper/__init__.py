"""Measure on the paper's corpora and on Spider, and hold the paper's own figures."""
