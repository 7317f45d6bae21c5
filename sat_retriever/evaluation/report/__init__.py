"""Write the results of a bench as a folder to read.

Bench → data (each question, and the reasons for its sheets) → page (HTML; viewer/) → folder
"""
