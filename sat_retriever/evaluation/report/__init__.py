"""What a bench found, as a folder to read.

Bench → data (each question, and what speaks for its sheets) → page (HTML; viewer/) → folder
"""
