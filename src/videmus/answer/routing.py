"""Which questions are about whole videos: they are answered from summaries and all segments, not from the best matches.

Source: Goldfish's global mode, which its users must switch on; here it is recognised. Knows words alone.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Route = Literal["moments", "about", "list"]
"""moments: answered from the best matches; about: what it is about as a whole; list: everything of a kind in it."""

_WHOLE = (
    r"(?:(?:this|the|that|each|every|whole|entire|your|these|those|all)\s+(?:\w+\s+){0,2}?)"
    r"(?:lectures?|videos?|talks?|recordings?|films?|movies?|clips?|courses?|meetings?|lessons?|sessions?|episodes?|"
    r"presentations?|tutorials?|webinars?|speech|discussion|seminar|class)"
)
_SPEAKER = r"the\s+(?:speaker|lecturer|presenter|narrator|teacher|instructor|professor)s?"
_IN_WHOLE = rf"(?:\s+(?:in|of|during)\s+{_WHOLE})?"
_ABOUT = [
    rf"\bwhat(?:'s|s|\s+is|\s+are|\s+was|\s+were)\s+{_WHOLE}\s+(?:all\s+|mainly\s+|mostly\s+)?about\b",
    rf"\bwhat\s+(?:does|do|did)\s+{_WHOLE}\s+(?:cover|discuss|teach|deal\s+with|talk\s+about|say\s+overall|present)\s*\??\s*$",
    rf"\bwhat\s+happens\s+in\s+{_WHOLE}\s*\??\s*$",
    rf"\b(?:summary|overview|outline|gist|synopsis|abstract|recap|table\s+of\s+contents)\s+of\s+{_WHOLE}",
    rf"\b(?:main|key|central|overall|major|principal)\s+(?:topics?|subjects?|themes?|points?|ideas?|messages?|takeaways?|"
    rf"arguments?|conclusions?)\b(?:.*\b{_WHOLE}|\s*\??\s*$)",
    rf"\b(?:topics?|subjects?|themes?)\b.*\b(?:covered|discussed|taught|treated)\b.*\b{_WHOLE}",
    r"^\W*(?:please\s+|can\s+you\s+|could\s+you\s+)?(?:summari[sz]e|recap|sum\s+up|outline)\b"
    rf"(?:\s+(?:it|this|that|everything)\b|\s+{_WHOLE}|\W*$)",
    r"^\W*(?:please\s+|can\s+you\s+|could\s+you\s+)?(?:give|show|tell)\s+(?:me\s+)?(?:an?|the)\s+(?:short\s+|brief\s+|quick\s+)?"
    r"(?:summary|overview|outline|gist|synopsis|recap)\W*(?:please\W*)?$",
    rf"^\W*what\s+(?:is|are|does|do|was|were|did)\s+(?:s?he|they|{_SPEAKER})\s+"
    rf"(?:talk|speak|explain|discuss|teach|present|say|describe|mention)(?:ing)?(?:\s+about)?{_IN_WHOLE}\W*$",
    rf"^\W*what\s+(?:is|was|are|were)\s+(?:being\s+)?(?:said|discussed|mentioned|described|presented|explained|talked\s+about)"
    rf"{_IN_WHOLE}\W*$",
    r"^\W*what(?:'s|s|\s+is|\s+are)\s+(?:the\s+)?(?:topics?|subjects?|themes?)\W*$",
    r"^\W*(?:tl;?dr|summary|overview|outline|table\s+of\s+contents)\W*$",
    r"\bworum\s+geht\s+es\b", r"\bfasse?\b.*\bzusammen\b", r"\bzusammenfassung\b", r"\bwovon\s+handelt\b",
    r"\bde\s+quoi\s+(?:parle|traite|s'agit)\b", r"\br[eé]sume[rz]?\b", r"\br[eé]sum[eé]\s+d",
    r"\bde\s+qu[eé]\s+(?:trata|habla|va)\b", r"\bresum(?:e|en|ir)\b",
    r"总结|概述|主要(?:内容|讲)|讲(?:了|的是)什么",
]  # fmt: skip
_LIST = [
    r"^\W*(?:please\s+|can\s+you\s+)?(?:list|name|enumerate|give(?:\s+me)?|show(?:\s+me)?)\s+(?:all|every|each|the\s+(?:whole|full|"
    r"complete)\s+list)\b",
    r"\bwhat\s+are\s+all\b", r"\bwhich\s+\w+\s+(?:are|were)\s+(?:all\s+)?(?:mentioned|discussed|covered|named|shown)\b.*"
    rf"\bin\s+{_WHOLE}", r"\bhow\s+many\s+(?:times|different)\b", r"\beverything\s+(?:that|about|said)\b", r"\bevery\s+time\b",
    r"^\W*(?:liste|nenne)\s+alle\b", r"\b(?:liste|cite|nomme)[rz]?\s+(?:tous|toutes)\b",
    r"\b(?:lista|enumera|nombra)\s+tod[oa]s\b", r"列出(?:所有|全部)",
]  # fmt: skip
_PATTERNS: list[tuple[Route, re.Pattern[str]]] = [
    *(("about", re.compile(p, re.I)) for p in _ABOUT),
    *(("list", re.compile(p, re.I)) for p in _LIST),
]


def route(question: str) -> Route:
    """How a question is to be answered."""
    plain = " ".join(unicodedata.normalize("NFKC", question).replace("’", "'").split())
    for found, pattern in _PATTERNS:
        if pattern.search(plain):
            return found
    return "moments"
