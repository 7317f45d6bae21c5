"""The times that names of sheets say, and those that questions ask for.

a sheet's names → spellings (timewords, chinese) → periods (period, family, siblings) → spans
    → sheet (months, for the index's file)
a question → relative ("last year" in numbers: relativewords, relativechinese, counting) → marks
    (single words) → bounds ("since 2021") → question (spans asked for) → asked (said in words)
both → relation (which sheets lie inside, open or outside)
"""
