"""How a question finds its moments and is answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a question finds its moments. The weights were chosen by comparing variants with `bench/retrieval.py` on all of
    docvideoqa_dev and pstuts_dev, both halves of each set's videos shown; none was held out."""

    length_ms: int = 23_000  # speech that is ranked as one span; 3 sentences of a screencast are 17 s
    trim_ms: int = 28_000  # a longer row is cut to so much around what matched: recall unchanged, half the seconds
    context_ms: int = 45_000  # the lecture RAG's window: what is near the question round a span counts for it
    cosine_weight: float = 1.5  # beside BM25 divided by its maximum; as in the data sets' own trial
    context_weight: float = 0.5  # recall@5 .760 to .768 and .814 to .821
    k1: float = 1.2  # BM25 (Robertson and Zaragoza 2009): the usual values
    b: float = 0.75
    whole_rows: int = (
        1_000  # a scope of at most so many rows is ranked whole, not from hits (4,000: same recall, 5 x the time)
    )
    hits: int = 200  # rows taken from the keyword index in a larger scope, and for each phrase
    anchors: int = 16  # of those, the best, whose surroundings are ranked: more find no more, and take longer
    repeated_share: float = 0.8  # a derived text with so many of its words said or shown meanwhile only repeats them
    matched_share: float = 0.4  # of the best row's fit: another row of a moment that counts as what matched (ours)
    least_cosine: float = 0.2  # a span that holds no word of the question and is less near is no result


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Answers without a language model. The confidence is a logistic model, fitted on docvideoqa_dev: each video asked its
    own and another video's questions; `bench/retrieval.py --refusal` shows how well it tells them apart."""

    moments: int = 5  # PreMind answers from the top 5
    sentences: int = 3
    quote_words: int = 40  # a passage's length; transcripts without punctuation have sentences of hundreds of words
    sentences_read: int = 60  # embedded for one answer: some 100 ms
    sentence_cosine: float = 1.5  # as in search
    standing: float = 0.5  # of the sentence's moment among the moments
    number_asked: float = 0.3  # for a sentence with a number where "how many", "when" ask for one
    form_asked: float = 0.2  # for a sentence that gives a reason where "why" asks for one, or says what something is
    is_heading: float = 0.3  # taken from a slide's line that says no more than the question, or is asked for its reason
    follows_question: float = 0.9  # of the fit of the question that it follows
    nearly: float = 0.8  # of the best sentence's fit: said too ...
    repeating: float = 0.7  # ... unless so many of its words were said already (ours)
    label_words: int = 2  # a slide's line with so few words beyond the question's is a label, and needs its explanation
    around_ms: int = 15_000  # beside a moment: what is said there may complete its sentences
    pause_ms: int = 3_000  # neighbours further apart are not quoted as one ...
    joined_words: int = 70  # ... nor where they are longer together (ours)
    explaining: int = 3  # sentences said over a label that are quoted with it
    line_word: float = 0.2  # of the question's rarity: another line of a slide that holds such a word is quoted too
    bias: float = -1.6
    nearness: float = 5.4  # of the best cosine
    keyword: float = 0.85  # of the best BM25, in units of an unknown word's rarity
    missing: float = -0.85  # of the rarity of the words that no moment holds, in the same units
    missing_names: float = -0.8  # for each name or number that no moment holds
    words_bias: float = -0.15  # the same four where nothing has vectors: another fit, area .877 instead of .894
    words_keyword: float = 1.5
    words_missing: float = -0.95
    words_missing_names: float = -0.85
    least_confidence: float = 0.3  # own questions refused 9 %, another video's 61 % (many fit any talk)
    sure_confidence: float = 0.6
    sure_told: float = 0.5  # of the question's rarity stands in the quotes of an answer that counts as supported (ours)
    least_near: float = 0.1  # quotes that hold no word of the question are at least so near to it: 0.35 refused 8 of 231 own


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Answers by a language model. PreMind reads the top 5 of its indexes, Goldfish the top 3 clips.

    `frames` sends pictures to a model that sees, at most `most_frames`; Goldfish measured that they can hurt.
    `whole_characters` bounds the material of a question about whole videos; more is summarised first.
    """

    moments: int = 8
    frames: bool = True
    most_frames: int = 6
    evidence_characters: int = 24_000
    whole_characters: int = 48_000
    reply_tokens: int = 1500
    history: int = 6  # exchanges of a conversation that are sent along
    verbatim_words: int = 3  # a quote is at least so many words long, or the whole evidence


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The planning agent (EGAgent, arXiv 2601.18157): at most 5 steps; 50 frames at most for the model, 1 to 3 short queries.

    Each tool can be switched off. 0 is no limit, for tokens, money and seconds. `evidence` bounds the rows that the answering
    model sees, `memory_tokens` the notes."""

    steps: int = 5
    calls: int = 20  # 1 plan + 5 x (analysis + grade) + answer, and some for a second answer
    tokens: int = 200_000
    usd: float = 0.0
    seconds: float = 300.0
    frames: int = 50
    frame_gap_ms: int = 2_000  # frames closer to a better one are left out
    frame_queries: int = 3
    evidence: int = 40
    transcript: bool = True
    screen: bool = True
    frame_search: bool = True
    graph: bool = True
    captions: bool = True
    summaries: bool = True
    look: bool = True
    sql: bool = True
