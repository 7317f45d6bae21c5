"""How well sheets are found: a method answers questions with a run, and metrics come from runs.

index → methods/ → Method → Run → rows → metrics, differences, tables, reports
"""
