"""The interactive page of sheets and their links.

records, links → layout (→ rectangles) → page → `onepage`; viewer/ draws it in the browser
"""
