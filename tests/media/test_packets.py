"""Groups of packets and chosen pictures of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from material import grey, make_video
from slides_material import Show, drawn, record
from videmus.errors import MediaError
from videmus.media.packets import Group, PacketReader

PAGE = drawn("A page", ["with a line of text on it"])


@pytest.fixture(scope="module")
def steps(tmp_path_factory) -> Path:
    """6 s, ten pictures a second, a keyframe every second; picture n is grey level 20 + 3 n."""
    folder = tmp_path_factory.mktemp("packets")
    return make_video(
        folder / "steps.mp4", [(100 * n, grey(20 + 3 * n, (64, 48))) for n in range(60)], gop=10, end_ms=6_000
    )


def groups(path: Path, **arguments) -> list[Group]:
    with PacketReader(path, **arguments) as reader:
        return list(reader.groups())


def level(luma) -> int:
    return round(float(luma.mean()))


def test_groups_begin_at_keyframes_and_hold_every_packet_once(steps):
    found = groups(steps)
    assert [g.start_ms for g in found] == [0, 1_000, 2_000, 3_000, 4_000, 5_000]
    assert [g.next_ms for g in found] == [1_000, 2_000, 3_000, 4_000, 5_000, None]
    assert sorted(t for g in found for t in g.times) == [100 * n for n in range(60)]
    assert all(g.keys[0] and not g.keys[1:].any() for g in found)
    assert all((g.sizes > 0).all() for g in found)


def test_the_keyframe_of_a_group_is_its_first_picture(steps):
    with PacketReader(steps) as reader:
        for group in reader.groups():
            shown = reader.keyframe(group)
            assert shown is not None and shown.at_ms == group.start_ms
            assert shown.rgb().shape == (48, 64, 3)
            assert abs(int(shown.rgb().mean()) - (20 + 3 * group.start_ms // 100)) <= 3


def test_pictures_of_a_span_come_in_order_and_no_others(steps):
    with PacketReader(steps) as reader:
        for group in reader.groups():
            times = [
                s.at_ms - group.start_ms
                for s in reader.pictures(group, from_ms=group.start_ms + 300, until_ms=group.start_ms + 700)
            ]
            assert times == [300, 400, 500, 600, 700]


def test_groups_may_be_decoded_in_any_choice(steps):
    with PacketReader(steps) as reader:
        chosen = [g for g in reader.groups() if g.start_ms in (1_000, 4_000)]
        for group in reversed(chosen):
            levels = [level(s.rgb()) for s in reader.pictures(group)]
            assert len(levels) == 10
            assert all(abs(v - (20 + 3 * (group.start_ms // 100 + i))) <= 3 for i, v in enumerate(levels))


def test_spacing_leaves_pictures_out(steps):
    with PacketReader(steps) as reader:
        first = next(reader.groups())
        assert [s.at_ms for s in reader.pictures(first, spacing_ms=250)] == [0, 300, 600, 900]


def test_where_not_all_is_wanted_only_pictures_that_others_refer_to_are_decoded(tmp_path):
    path = make_video(
        tmp_path / "bframes.mp4",
        [(100 * n, grey(20 + 3 * n, (64, 48))) for n in range(40)],
        gop=40,
        end_ms=4_000,
        options={"bf": "3", "b-adapt": "0"},
    )
    with PacketReader(path) as reader:
        group = next(reader.groups())
        times = [s.at_ms for s in reader.pictures(group, spacing_ms=0, whole=lambda at_ms: 2_000 <= at_ms < 3_000)]
    assert [t for t in times if 2_000 <= t < 3_000] == [2_000 + 100 * n for n in range(10)]
    assert len(times) < 35 and times == sorted(times)


def test_the_luma_plane_is_small_and_keeps_the_proportions(tmp_path):
    path = record(tmp_path / "page.mp4", [Show(0, PAGE.picture)], 1_000)
    with PacketReader(path, width=160) as reader:
        shown = reader.keyframe(next(reader.groups()))
        assert shown is not None and shown.luma.shape == (90, 160) and shown.luma.dtype == np.uint8


def test_keyframes_alone_are_joined_and_only_those_wanted_decoded(tmp_path):
    path = make_video(
        tmp_path / "intra.mp4", [(100 * n, grey(20 + 3 * n, (64, 48))) for n in range(50)], gop=1, end_ms=5_000
    )
    with PacketReader(path, least_ms=2_000) as reader:
        found = list(reader.groups())
        assert [g.start_ms for g in found] == [0, 2_000, 4_000]
        before = reader.decoded
        assert [s.at_ms for s in reader.pictures(found[1], from_ms=2_500, spacing_ms=500)] == [2_500, 3_000, 3_500]
        assert reader.decoded - before == 3


def test_one_keyframe_for_long_gives_parts_that_continue(tmp_path):
    path = make_video(
        tmp_path / "long.mp4", [(100 * n, grey(20 + 3 * n, (64, 48))) for n in range(60)], gop=999, end_ms=6_000
    )
    with PacketReader(path, most_ms=2_000) as reader:
        levels, continues = [], []
        for group in reader.groups():
            continues.append(group.continues)
            assert (reader.keyframe(group) is None) == group.continues
            levels += [level(s.rgb()) for s in reader.pictures(group)]
    assert continues[0] is False and all(continues[1:]) and len(continues) >= 3
    assert len(levels) == 60
    assert all(abs(v - (20 + 3 * n)) <= 3 for n, v in enumerate(levels))


def test_damaged_packets_are_passed_over_and_counted(steps, tmp_path):
    data = bytearray(steps.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = bytes(400)
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(data)
    with PacketReader(broken) as reader:
        shown = sum(1 for g in reader.groups() for _ in reader.pictures(g))
    assert shown >= 20


def test_a_file_without_pictures_is_refused(tmp_path):
    empty = tmp_path / "no.mp4"
    empty.write_bytes(b"no video at all")
    with pytest.raises(MediaError), PacketReader(empty):
        pass
