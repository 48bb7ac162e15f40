"""Sections of a page about a study, each a function of its rows or tables."""
