from __future__ import annotations

import pytest
from store_contract import StoreContract

from videmus.store.sqlite import SqliteStore


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = SqliteStore(tmp_path / "library")
        yield store
        store.close()
