"""Understanding what was heard and seen: PreMind's slide agents, described clips, chapters and summaries.

Enters: a video's rows, a function that gives a frame's picture, and language models (or none). Leaves: evidence rows of
the kinds vision, narration, consolidated, clip and summary, each as soon as it is made, each naming what it was made from.
Does not know the library, the ledger or the network. Without a model the same rows are made from the recognised words alone,
and their origin says so.
"""
