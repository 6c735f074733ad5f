from __future__ import annotations

import pytest


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """No folder of the user's, and a cache with nothing in it yet."""
    monkeypatch.delenv("HIDESEEK_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    return tmp_path
