"""Keys come from the environment alone, and nothing that leaves this room holds one: not an error, a log line or a
row."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

OWN_KEY = "VIDEMUS_API_KEY"
"""The key for an address of one's own ([models] base_url); never another provider's key by guess."""

_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|AIza|ya29|ghp|glpat)[-_A-Za-z0-9.]{12,}|(?i:bearer|basic)\s+[-\w.~+/=*]{8,}"
    r"|(?i:x-api-key|api[-_ ]?key|authorization)[\"']?\s*[:=]\s*[\"']?[-\w.~+/=*]{8,}|://[^/\s:@]+:[^/\s@]+@"
)
HIDDEN = "[key]"


def without_secrets(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """`text` with every value of a secret-looking environment variable, and all that looks like a key, replaced."""
    for name, value in environment.items():
        if _NAMES.search(name) and len(value) >= 8:
            text = text.replace(value, HIDDEN)
    return _SHAPES.sub(HIDDEN, text)
