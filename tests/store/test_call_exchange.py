"""Replies that were paid for go to another library and are not asked for again there."""

import pytest

from videmus.errors import UsageError
from videmus.store.sqlite import SqliteStore


@pytest.fixture
def stores(tmp_path):
    pair = SqliteStore(tmp_path / "one"), SqliteStore(tmp_path / "two")
    yield pair
    for store in pair:
        store.close()


def test_kept_replies_go_from_one_library_to_another(stores, tmp_path):
    one, two = stores
    one.cache_call("k1", b'{"a": "\xc3\xa9"}', {"stage": "vision", "model": "m", "usd": 0.5})
    one.cache_call("k2", b"\x00\xff", {})
    assert one.export_calls(tmp_path / "calls.jsonl") == 2
    assert (two.import_calls(tmp_path / "calls.jsonl"), two.import_calls(tmp_path / "calls.jsonl")) == (2, 0)
    assert (two.cached_call("k1"), two.cached_call("k2")) == (b'{"a": "\xc3\xa9"}', b"\x00\xff")


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"key": "k"}', '{"key": "k", "reply": "!"}', '{"key": 1, "reply": "YQ==", "model": {}}']
)
def test_a_file_of_something_else_changes_nothing(stores, tmp_path, line):
    file = tmp_path / "calls.jsonl"
    file.write_text('{"key": "good", "reply": "YQ=="}\n' + line + "\n")
    with pytest.raises(UsageError, match="line 2"):
        stores[0].import_calls(file)
    assert stores[0].cached_call("good") is None
