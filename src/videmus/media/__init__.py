"""Files of video, sound and subtitles: what they hold, their frames at exact times, their cues, clips cut out of them.

Enters: paths, addresses and times in milliseconds from a video's first moment. Leaves: frozen dataclasses, RGB arrays,
files. Knows nothing of models, evidence or the library. The only place that knows PyAV.
"""
