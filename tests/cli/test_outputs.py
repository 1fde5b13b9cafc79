"""Files that commands write: one that is there stays, unless --force."""

import pytest

from material import grey, make_video

WRITING = {
    "export": ("export", "Tides", "-f", "md", "-o"),
    "clip": ("clip", "film", "0", "0:01", "-o"),
    "frame": ("frame", "film", "0:01", "-o"),
    "sheet": ("show", "film", "--sheet"),
    "graph": ("graph", "--export"),
    "cache": ("cache", "export"),
}
NAMES = {"export": "a.md", "clip": "a.mp4", "frame": "a.png", "sheet": "a.png", "graph": "a.csv", "cache": "a.jsonl"}


@pytest.fixture
def films(library, tmp_path):
    make_video(tmp_path / "film.mp4", [(100 * n, grey(20 + 5 * n)) for n in range(20)], end_ms=2_000)
    library.json("add", tmp_path / "film.mp4")
    return library


def test_a_file_that_is_there_is_wrong_usage_everywhere_and_written_over_by_force(films, tmp_path):
    for command, arguments in WRITING.items():
        file = tmp_path / NAMES[command]
        file.write_bytes(b"precious")
        error = films.json(*arguments, file, status=2)["error"]
        assert (error["what"], error["where"]) == ("the file is there already", str(file)), command
        assert "--force" in error["next"]
        assert file.read_bytes() == b"precious"
        assert films(*arguments, file, "--force")[0] == 0
        assert file.read_bytes() != b"precious", command
        file.unlink()
