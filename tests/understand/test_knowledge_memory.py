"""The knowledge memory: what merges, what is recalled, and the mean that it keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from videmus.understand.memory import KnowledgeMemory


def at(cosine: float, size: int = 40, axis: int = 1) -> NDArray[np.float32]:
    """A unit vector of this cosine to the first axis."""
    vector = np.zeros(size, np.float32)
    vector[0], vector[axis] = cosine, math.sqrt(1 - cosine**2)
    return vector


class Embedder:
    def __init__(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.vectors[text] for text in texts])


@pytest.mark.parametrize(("cosine", "entries"), [(0.69, 2), (0.70, 1), (0.71, 1), (0.0, 2), (1.0, 1)])
def test_it_merges_at_0_7_and_not_at_0_69(cosine, entries):
    memory = KnowledgeMemory(Embedder({"base": at(1.0), "other": at(cosine)}))
    memory.learn({"base": "first"})
    memory.learn({"other": "second"})
    assert len(memory.entries) == entries
    if entries == 1:
        assert memory.entries[0].names == ["base", "other"]
        assert memory.entries[0].explanations == ["first", "second"]


def test_the_embedding_is_the_mean_of_all_names_merged_so_far():
    vectors = {"a": at(1.0), "b": at(0.8), "c": at(0.9, axis=2)}
    memory = KnowledgeMemory(Embedder(vectors))
    memory.learn({"a": "1", "b": "2", "c": "3"})
    (entry,) = memory.entries
    mean = np.mean(list(vectors.values()), axis=0)
    assert np.allclose(entry.embedding, mean / np.linalg.norm(mean), atol=1e-6)


def test_the_nearest_entry_takes_the_concept():
    vectors = {"far": at(0.75), "near": at(0.9, axis=2), "new": at(1.0)}
    memory = KnowledgeMemory(Embedder(vectors))
    memory.learn({"far": "1"})
    memory.learn({"near": "2"})
    assert len(memory.entries) == 2
    memory.learn({"new": "3"})
    assert memory.entries[1].names == ["near", "new"]


@pytest.mark.parametrize(("cosine", "recalled"), [(0.70, 0), (0.71, 1), (0.69, 0)])
def test_only_entries_over_0_7_are_recalled(cosine, recalled):
    memory = KnowledgeMemory(Embedder({"base": at(cosine), "keyword": at(1.0)}))
    memory.learn({"base": "first"})
    assert len(memory.recall(["keyword"])) == recalled


def test_at_most_ten_entries_a_keyword_the_nearest_first():
    near = {f"e{n}": at(0.71 + 0.02 * n, axis=n + 1) for n in range(14)}
    memory = KnowledgeMemory(Embedder({**near, "keyword": at(1.0)}))
    for name in near:  # learned apart, as they would merge with one another
        alone = KnowledgeMemory(Embedder(near))
        alone.learn({name: name})
        memory.entries += alone.entries
    names = [entry.names[0] for entry in memory.recall(["keyword"])]
    assert names == [f"e{n}" for n in range(13, 3, -1)]


def test_an_entry_near_two_keywords_is_given_once():
    memory = KnowledgeMemory(Embedder({"base": at(0.95), "one": at(1.0), "two": at(0.9)}))
    memory.learn({"base": "first"})
    assert len(memory.recall(["one", "two"])) == 1


def test_an_empty_memory_and_no_keywords_recall_nothing():
    memory = KnowledgeMemory(Embedder({"base": at(1.0)}))
    assert memory.recall(["base"]) == []
    memory.learn({"base": "x"})
    memory.learn({})
    assert memory.recall([]) == [] and len(memory.entries) == 1


def test_in_a_script_that_the_embedder_does_not_know_only_equal_names_are_one():
    same = at(1.0)
    embedder = Embedder({"学习率": same, "动量": same, "learning rate": same})
    memory = KnowledgeMemory(embedder, comparable=str.isascii)
    memory.learn({"学习率": "步长", "动量": "累积", "learning rate": "step"})
    memory.learn({"学习率": "更多"})
    assert [entry.names for entry in memory.entries] == [["学习率", "学习率"], ["动量"], ["learning rate"]]
    assert [entry.names[0] for entry in memory.recall(["动量"])] == ["动量"]
    assert [entry.names[0] for entry in memory.recall(["learning rate"])] == ["learning rate"]
