from __future__ import annotations

import io
import json

import numpy as np
import pytest
import tiny_onnx as onnx
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers

from videmus.config import ModelSettings, Settings
from videmus.errors import ModelError
from videmus.models import image_embedding
from videmus.models.image_embedding import ScriptedImageEmbedder

WORDS = {"[UNK]": 0, "red": 1, "green": 2, "blue": 3}


def jpeg(colour, size=(40, 20)):
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "JPEG", quality=95)
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model whose space is red, green, blue: pictures by their mean, texts by a table of their words."""
    folder = tmp_path_factory.mktemp("clip")
    onnx.write(
        folder / "vision_model.onnx",
        [
            onnx.node(
                "ReduceMean",
                ["pixel_values"],
                "image_embeds",
                [onnx.attribute("axes", (2, 3)), onnx.attribute("keepdims", one=0)],
            )
        ],
        [onnx.value_info("pixel_values", onnx.FLOAT, ("n", 3, 8, 8))],
        [onnx.value_info("image_embeds", onnx.FLOAT, ("n", 3))],
    )
    onnx.write(
        folder / "text_model.onnx",
        [
            onnx.node("Gather", ["table", "input_ids"], "words"),
            onnx.node(
                "ReduceSum", ["words"], "text_embeds", [onnx.attribute("axes", (1,)), onnx.attribute("keepdims", one=0)]
            ),
        ],
        [onnx.value_info("input_ids", onnx.INT64, ("n", "length"))],
        [onnx.value_info("text_embeds", onnx.FLOAT, ("n", 3))],
        [onnx.initializer("table", (4, 3), [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1])],
    )
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    preparation = {"size": {"height": 8, "width": 8}, "image_mean": [0, 0, 0], "image_std": [1, 1, 1]}
    (folder / "preprocessor_config.json").write_text(json.dumps(preparation))
    return folder


def settings(model):
    return Settings(models=ModelSettings(image_embedding=str(model), threads=1))


@pytest.fixture(params=["onnx", "scripted"])
def embedder(request, folder):
    return image_embedding.load(settings(folder)) if request.param == "onnx" else ScriptedImageEmbedder()


def test_pictures_and_texts_of_one_thing_are_near_and_of_unit_length(embedder):
    pictures = embedder.embed_pictures([jpeg("red"), jpeg("blue")])
    texts = embedder.embed_queries(["red", "a blue thing"])
    assert pictures.shape == texts.shape == (2, embedder.dimension) and pictures.dtype == np.float32
    assert np.allclose(np.linalg.norm(np.concatenate([pictures, texts]), axis=1), 1, atol=1e-5)
    likeness = pictures @ texts.T
    assert likeness[0, 0] > likeness[0, 1] + 0.3 and likeness[1, 1] > likeness[1, 0] + 0.3


def test_many_pictures_are_embedded_as_each_alone(embedder):
    colours = ["red", "green", "blue"] * 7
    together = embedder.embed_pictures([jpeg(c) for c in colours])
    alone = np.concatenate([embedder.embed_pictures([jpeg(c)]) for c in colours])
    assert np.allclose(together, alone, atol=1e-5)


def test_a_models_name_follows_from_its_file(folder, tmp_path):
    first = image_embedding.load(settings(folder))
    assert first.name.startswith(f"{folder.name}@")


def test_no_model_is_configured_by_default():
    assert image_embedding.load(Settings()) is None


def test_a_folder_without_the_files_says_what_is_needed(tmp_path):
    with pytest.raises(ModelError) as caught:
        image_embedding.load(settings(tmp_path))
    assert "tokenizer.json" in caught.value.what and caught.value.next


def test_a_file_that_is_no_model_is_a_kind_error(tmp_path, folder):
    for name in ("vision_model.onnx", "text_model.onnx"):
        (tmp_path / name).write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    with pytest.raises(ModelError, match="cannot be loaded"):
        image_embedding.load(settings(tmp_path))


def test_bytes_that_are_no_picture_are_a_kind_error(folder):
    with pytest.raises(ModelError, match="picture"):
        image_embedding.load(settings(folder)).embed_pictures([b"not a jpeg"])
