"""Read the times in names of sheets and in questions, and compare them.

a sheet's names → spellings (timewords, chinese) → periods (period, family, siblings) → spans
    → sheet (months, for the index's file)
a question → relative ("last year" in numbers: relativewords, relativechinese, counting) → marks
    (single words) → bounds ("since 2021") → question (requested spans) → asked (spans in words)
both → relation (sheets inside, open or outside)
"""
