"""Data sets, measures and evaluations: retrieval, segmentation, answers judged by a model, a synthetic week with exact truth.

Enters: a library (or functions that search and ask), questions with their truth. Leaves: figures with intervals, and run files
that say what made them. Only the terminal imports this room.
"""
