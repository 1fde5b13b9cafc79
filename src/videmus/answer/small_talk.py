"""What a person types that is no question: greetings, thanks, a test of the keyboard, nothing that has a word.

Knows words alone. What is looked up, be it one word, is a question: "tides", "hello world programs".
"""

from __future__ import annotations

from videmus.store.words import words

_GREETING = """
hello hi hey hiya howdy greetings hallo servus moin gruezi bonjour bonsoir salut coucou hola ciao ola 你好 您好
"""
_THANKS = """
thanks thank thx ty cheers merci danke gracias bye goodbye tschuss adios cool great nice perfect wow lol 谢谢 再见
"""
_NODS = "ok okay yes no yeah nope sure fine right ja nein oui non si"
_TEST = "test testing tests 1 2 3 one two three ping check mic 123 1234 abc asdf qwerty foo bar 测试 试"
_AROUND = """
there everyone all videmus to you so a lot very much again good morning afternoon evening day how are is it going doing that
was helpful and buenos dias buenas tardes beaucoup schon vielen dank muchas see later please my friend computer 好 谢 见
"""
_GREETINGS = (
    "good morning",
    "good afternoon",
    "good evening",
    "guten tag",
    "guten morgen",
    "buenos dias",
    "how are you",
)
_THANKED = ("vielen dank", "muchas gracias", "see you", "au revoir", "auf wiedersehen")

_GREETING_WORDS, _THANKS_WORDS, _NOD_WORDS, _TEST_WORDS, _AROUND_WORDS = (
    frozenset(text.split()) for text in (_GREETING, _THANKS, _NODS, _TEST, _AROUND)
)
MOST_WORDS = 6

NEXT = "Ask about what is said or shown, for example: What is this video about?"
GREETED = f"Hello. {NEXT}"
THANKED = f"You are welcome. {NEXT}"
NO_QUESTION = f"That is no question. {NEXT}"


def small_talk(text: str) -> str | None:
    """What is answered to a text that asks nothing; None where something is asked."""
    typed = words(text)
    if not typed:
        return NO_QUESTION
    spoken = set(typed)
    if len(typed) > MOST_WORDS:
        return None
    if spoken <= _TEST_WORDS | _NOD_WORDS:
        return NO_QUESTION
    begun = " ".join(typed)
    if begun.startswith(_GREETINGS) and (len(typed) <= 3 or spoken <= _GREETING_WORDS | _AROUND_WORDS):
        return GREETED
    if spoken & _GREETING_WORDS and spoken <= _GREETING_WORDS | _AROUND_WORDS | _TEST_WORDS:
        return GREETED
    thanked = spoken & _THANKS_WORDS and spoken <= _THANKS_WORDS | _NOD_WORDS | _AROUND_WORDS
    return THANKED if thanked or begun in _THANKED else None
