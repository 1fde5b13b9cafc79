"""Text embedding: one contract for the bundled, a folder's and the scripted embedder."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from videmus.config import ModelSettings, Settings
from videmus.errors import ModelError
from videmus.models import text_embedding, weights
from videmus.models.text_embedding import BUNDLED, ScriptedEmbedder, from_folder, load, suits


@pytest.fixture(scope="session")
def bundled():
    return load(Settings())


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    """A folder as a person would bring it: an .onnx, a tokenizer.json, and how long its texts may be."""
    folder = tmp_path_factory.mktemp("brought")
    (folder / "onnx").mkdir()
    shutil.copy(weights.file(BUNDLED), folder / "onnx" / "model_quantized.onnx")
    shutil.copy(weights.tokenizer(), folder / "tokenizer.json")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 8}))
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    return folder


@pytest.fixture(params=["bundled", "folder", "scripted"])
def embedder(request, bundled, model_folder):
    if request.param == "bundled":
        return bundled
    if request.param == "folder":
        return from_folder(model_folder, name="mine", threads=1)
    return ScriptedEmbedder()


class TestEveryEmbedder:
    def test_gives_unit_vectors_of_its_dimension(self, embedder):
        texts = ["gradient descent", "", "学习", "a " * 2000]
        vectors = embedder.embed(texts)
        assert vectors.shape == (4, embedder.dimension)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)

    def test_gives_no_vectors_for_no_texts(self, embedder):
        assert embedder.embed([]).shape == (0, embedder.dimension)

    def test_repeats_itself_and_does_not_depend_on_the_batch(self, embedder):
        alone = embedder.embed(["gradient descent"])[0]
        among = embedder.embed(["a much longer text of other words, to pad it " * 3, "gradient descent", "x"])[1]
        assert float(alone @ among) > 0.97  # int8 weights round by batch

    def test_embeds_a_question_near_what_it_asks_of(self, embedder):
        passages = embedder.embed(["the learning rate is too high", "my cat sleeps on the sofa"])
        near, far = passages @ embedder.embed_query("learning rate")
        assert near > far

    def test_names_its_space(self, embedder):
        assert embedder.name


def test_the_bundled_model_is_english_and_knows_meaning(bundled):
    assert (bundled.name, bundled.dimension) == (BUNDLED, 384)
    car, cooking = bundled.embed(["the automobile would not start", "boil the pasta for ten minutes"])
    question = bundled.embed_query("why did the car break down?")
    assert question @ car > question @ cooking + 0.1


def test_an_english_model_does_not_suit_other_languages(bundled):
    assert suits(bundled, "en", "anything")
    assert suits(bundled, "en-US", "anything")
    assert not suits(bundled, "de", "Guten Tag")
    assert suits(bundled, None, "Good day")
    assert not suits(bundled, None, "机器学习")
    assert suits(ScriptedEmbedder(), "de", "机器学习")


def test_a_folders_model_is_cut_at_its_own_length_and_named_by_its_bytes(model_folder, bundled):
    mine = from_folder(model_folder, name="mine")
    assert mine.name == "mine@8199be6f"
    long = "one two three four five six seven eight nine ten"
    assert np.allclose(mine.embed([long]), mine.embed([long + " eleven twelve"]), atol=1e-5)
    assert not np.allclose(bundled.embed([long]), bundled.embed([long + " eleven twelve"]), atol=1e-3)


def test_what_is_said_again_is_not_embedded_again(model_folder, monkeypatch):
    mine = from_folder(model_folder, name="mine")
    embedded = []
    pooled = mine._pooled
    monkeypatch.setattr(mine, "_pooled", lambda encodings: embedded.append(len(encodings)) or pooled(encodings))
    monkeypatch.setattr(text_embedding, "RECENT_TEXTS", 2)
    first = mine.embed(["yes", "no", "yes"])
    assert sum(embedded) == 2 and np.array_equal(first[0], first[2]) and not np.allclose(first[0], first[1])
    assert np.array_equal(mine.embed(["no", "yes"]), first[[1, 0]]) and sum(embedded) == 2
    mine.embed(["perhaps"])  # "no" was said longest ago
    mine.embed(["yes"])
    assert sum(embedded) == 3
    mine.embed(["no"])
    assert sum(embedded) == 4


def test_a_question_gets_the_prefix_that_the_folder_names(model_folder):
    mine = from_folder(model_folder, name="mine")
    assert not np.allclose(mine.embed_query("rate"), mine.embed(["rate"])[0], atol=1e-3)


def test_settings_name_a_folder(model_folder):
    assert load(Settings(models=ModelSettings(embedding=str(model_folder)))).name.endswith("@8199be6f")


def test_a_folder_without_a_model_says_what_is_missing(tmp_path):
    with pytest.raises(ModelError, match=r"tokenizer\.json") as caught:
        from_folder(tmp_path, name="x")
    assert str(tmp_path) in caught.value.where


def test_a_damaged_model_is_an_error_that_names_the_file(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    shutil.copy(weights.tokenizer(), tmp_path / "tokenizer.json")
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        from_folder(tmp_path, name="x")
    assert "model.onnx" in caught.value.where


def test_a_hubs_model_that_cannot_be_fetched_says_so(monkeypatch, tmp_path):
    asked = []

    def no_network(name, **options):
        asked.append((name, options.get("local_files_only", False)))
        raise OSError("no route to host")

    monkeypatch.setattr("huggingface_hub.snapshot_download", no_network)
    with pytest.raises(ModelError, match="no route to host"):
        load(Settings(models=ModelSettings(embedding="some-model")))
    assert asked == [("sentence-transformers/some-model", True), ("sentence-transformers/some-model", False)]


def test_a_fetched_model_is_loaded_from_this_machine(monkeypatch, model_folder):
    def here(name: str, **options: object) -> Path:
        assert options["local_files_only"]
        return model_folder

    monkeypatch.setattr("huggingface_hub.snapshot_download", here)
    assert load(Settings(models=ModelSettings(embedding="someone/model"))).name == "someone/model@8199be6f"
