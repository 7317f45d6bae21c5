"""Measure the reading of workbooks: speed, and the detection of headers."""
