"""Reading workbooks: speed, and the detection of headers."""
