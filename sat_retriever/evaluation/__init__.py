"""Measure how well sheets are found: a method turns questions into a run; a run gives metrics.

index → methods/ → Method → Run → rows → metrics, differences, tables, reports
"""
