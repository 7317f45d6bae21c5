"""Read the times in names of sheets and in questions, and compare them.

a sheet's names → spellings (timewords) → periods (period, family, siblings) → spans
a question → relative ("last year" in numbers) → marks (single words) → question (stretches of time,
    "since 2021") → spans (in words)
both → relation (months for the index's file; sheets inside, open or outside)
"""
