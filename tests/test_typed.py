"""What people type as the name of a video."""

import pytest

from videmus.errors import AmbiguousError, NotFoundError
from videmus.model import Video
from videmus.typed import named

VIDEOS = [
    Video("vc12aa", "print1", "Tides", 0, "/films/tides.mp4"),
    Video("vc3bbb", "print2", "vc1", 0, "/films/second.mp4"),
    Video("va0ccc", "print3", "Vc rivers", 0, "/films/vc"),
]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("vc12", "Tides"),
        ("vc3", "vc1"),
        ("va", "Vc rivers"),
        ("VA0", "Vc rivers"),
        ("vc1", "vc1"),  # a title, before the prefix of another's id
        ("vc", "Vc rivers"),  # a file's name
        ("RIVERS", "Vc rivers"),
        ("second.mp4", "vc1"),
    ],
)
def test_a_title_goes_before_a_unique_prefix_of_an_id_of_any_length(name, title):
    assert named(VIDEOS, name).title == title


def test_a_prefix_of_several_ids_lists_them_and_of_none_is_said():
    with pytest.raises(AmbiguousError, match="2 videos fit 'vc'") as caught:
        named(VIDEOS[:2], "vc")
    assert caught.value.where == "vc12aa Tides; vc3bbb vc1"
    for name in ("vd", "", " ", "ti"):
        with pytest.raises(NotFoundError):
            named(VIDEOS, name)
