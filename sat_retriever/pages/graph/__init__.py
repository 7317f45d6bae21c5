"""The interactive page of sheets and their links.

records, links → layout (→ forces, packing) → page → `onepage`; viewer/ draws it in the browser
"""
