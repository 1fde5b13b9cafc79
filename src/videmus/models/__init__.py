"""The outside minds behind small protocols: speech, text recognition, embeddings, language and vision models.

Enters: settings, sound, pictures, texts, typed prompts. Leaves: recognised speech and lines, vectors, typed replies. The only
room that knows a model's runtime or a provider; each is imported when first used. Does not know what a video, a slide or
evidence is, nor where replies are kept.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # onnxruntime 1.32 keeps an id of the device and events to send
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
