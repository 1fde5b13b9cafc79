"""What goes out of a library: subtitles, notes, decks, chapter lines, evidence files; and evidence files back in.

Enters: rows and pictures. Leaves: texts and files. Knows nothing of the store.
"""
