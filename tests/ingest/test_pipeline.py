"""The pipeline over scripted stages: what runs, what does not run twice, what is left after a fault."""

import threading
from dataclasses import replace

import pytest

from videmus.config import Settings
from videmus.errors import MediaError
from videmus.ingest.pipeline import Silent, outcome, run
from videmus.ingest.stage import Job, Kept, Options, Stage, Stopped
from videmus.model import Evidence, Frame, Origin, Video, evidence_id, frame_id
from videmus.models.minds import Minds
from videmus.store.protocol import Work
from videmus.store.sqlite import SqliteStore

VIDEO = Video("v1", "print", "talk", 60_000, "talk.mp4")


@pytest.fixture
def job(tmp_path):
    store = SqliteStore(tmp_path / "library")
    store.put_video(VIDEO)
    settings = Settings()
    yield Job(VIDEO, tmp_path / "talk.mp4", settings, Options(), Minds(settings), store)
    store.close()


def row(stage, start_ms, text, kind="speech"):
    id = evidence_id("v1", kind, start_ms, start_ms + 1000, text)
    return Evidence(id, "v1", start_ms, start_ms + 1000, kind, text, Origin(stage))


class Counting:
    """A stage that notes its runs and how far each came."""

    def __init__(self, name, reads=(), texts=("a", "b", "c"), fails_at=None, **more):
        self.name, self.texts, self.fails_at = name, texts, fails_at
        self.runs = []
        self.stage = Stage(name, name, 1, reads, self.run, **more)

    def run(self, job):
        self.runs.append([r.text for r in job.done])
        done = {r.id for r in job.done}
        for n, text in enumerate(self.texts):
            if n == self.fails_at:
                raise MediaError("the tape broke", where="talk.mp4", next="splice it")
            made = row(self.name, n * 1000, f"{self.name} {text}")
            if made.id not in done:
                yield made


def texts(job, stage):
    return [r.text for r in job.store.stage_rows("v1", stage)]


def test_a_stage_that_is_done_is_not_run_again(job):
    speech = Counting("speech")
    first = run(job, [speech.stage], Silent())
    second = run(job, [speech.stage], Silent())
    assert texts(job, "speech") == ["speech a", "speech b", "speech c"]
    assert len(speech.runs) == 1
    assert [w.rows for w in first] == [w.rows for w in second] == [3]


def test_a_failed_stage_leaves_its_reason_and_goes_on_after_its_rows(job):
    speech = Counting("speech", fails_at=2)
    (work,) = run(job, [speech.stage], Silent())
    assert (work.state, work.rows) == ("failed", 2)
    assert work.reason == "talk.mp4: the tape broke (splice it)"
    speech.fails_at = None
    (work,) = run(job, [speech.stage], Silent())
    assert (work.state, work.rows) == ("done", 3)
    assert speech.runs == [[], ["speech a", "speech b"]]


def test_a_fault_of_our_own_is_told_and_the_other_stages_are_done(job):
    def fault(job):
        yield row("speech", 0, "one")
        raise ZeroDivisionError("x")

    screen = Counting("screen", reads=("speech",))
    broken, fine = run(job, [Stage("speech", "speech", 1, (), fault), screen.stage], Silent())
    assert broken.state == "failed"
    assert "ZeroDivisionError" in broken.reason
    assert fine.state == "done"
    assert outcome([broken, fine]).state == "partial"


def test_stages_that_read_a_changed_stage_run_again_and_others_do_not(job):
    speech, screen = Counting("speech"), Counting("screen")
    windows = Counting("windows", reads=("speech",))
    stages = [speech.stage, screen.stage, windows.stage]
    run(job, stages, Silent())
    speech.texts = ("a", "other")
    changed = replace(speech.stage, version=2)
    run(job, [changed, screen.stage, windows.stage], Silent())
    assert texts(job, "speech") == ["speech a", "speech other"]
    assert (len(speech.runs), len(screen.runs), len(windows.runs)) == (2, 1, 2)
    assert windows.runs[1] == []  # under another key nothing of the old rows is left


def test_a_stage_that_fails_under_a_new_key_leaves_what_was_there_and_goes_on_from_its_own(job):
    speech, windows = Counting("speech"), Counting("windows", reads=("speech",))
    run(job, [speech.stage, windows.stage], Silent())
    speech.texts, speech.fails_at = ("x", "y", "z"), 2
    changed = replace(speech.stage, version=2)
    failed, untouched = run(job, [changed, windows.stage], Silent())
    assert (failed.state, failed.rows, untouched.state) == ("failed", 3, "done")
    assert outcome([failed, untouched]).state == "partial"
    assert texts(job, "speech") == ["speech a", "speech b", "speech c"]
    assert len(windows.runs) == 1
    speech.fails_at = None
    mended, again = run(job, [changed, windows.stage], Silent())
    assert speech.runs[2] == ["speech x", "speech y"]
    assert (mended.state, mended.rows, again.state) == ("done", 3, "done")
    assert texts(job, "speech") == ["speech x", "speech y", "speech z"]
    assert len(windows.runs) == 2


def test_a_stage_that_cannot_run_after_it_failed_keeps_what_was_there(job):
    scene = Counting("scene")
    run(job, [scene.stage], Silent())
    scene.fails_at = 0
    run(job, [replace(scene.stage, version=2)], Silent())
    gone = replace(scene.stage, version=2, skip=lambda job: "no vision model is configured")
    (work,) = run(job, [gone], Silent())
    assert (work.state, work.rows) == ("skipped", 3)
    assert texts(job, "scene") == ["scene a", "scene b", "scene c"]


def test_settings_that_cannot_be_read_cost_no_rows(job):
    def broken(job):
        raise MediaError("its subtitles cannot be read", where="talk.srt", next="check its permissions")

    speech = Counting("speech")
    run(job, [speech.stage], Silent())
    (work,) = run(job, [replace(speech.stage, settings=broken)], Silent())
    assert (work.state, work.rows) == ("failed", 3)
    assert texts(job, "speech") == ["speech a", "speech b", "speech c"]
    (work,) = run(job, [speech.stage], Silent())
    assert (work.state, texts(job, "speech")) == ("done", ["speech a", "speech b", "speech c"])


def test_a_stage_whose_input_was_made_again_with_the_same_rows_does_not_run_again(job):
    speech, windows = Counting("speech"), Counting("windows", reads=("speech",))
    run(job, [speech.stage, windows.stage], Silent())
    run(job, [replace(speech.stage, version=2), windows.stage], Silent())
    assert (len(speech.runs), len(windows.runs)) == (2, 1)


def test_settings_and_models_are_part_of_the_key(job):
    speech = Counting("speech")
    for length, model in ((1, "a"), (1, "a"), (2, "a"), (2, "b")):
        stage = replace(speech.stage, settings=lambda job, n=length: {"n": n}, model=lambda job, m=model: m)
        run(job, [stage], Silent())
    assert len(speech.runs) == 3


def test_a_stage_that_cannot_run_is_recorded_as_not_run_with_the_reason(job):
    scene = Counting("scene", skip=lambda job: "no vision model is configured")
    (work,) = run(job, [scene.stage], Silent())
    assert (work.state, work.reason, scene.runs) == ("skipped", "no vision model is configured", [])
    assert outcome([work]).state == "ready"


def test_a_stop_keeps_what_was_committed_and_the_next_run_goes_on(job):
    def stopped(job):
        yield row("speech", 0, "speech a")
        job.stop.set()
        yield row("speech", 1000, "speech b")

    with pytest.raises(Stopped):
        run(job, [Stage("speech", "speech", 1, (), stopped)], Silent())
    assert texts(job, "speech") == ["speech a", "speech b"]
    job.stop = threading.Event()
    speech = Counting("speech")
    run(job, [speech.stage], Silent())
    assert speech.runs == [["speech a", "speech b"]]
    assert texts(job, "speech") == ["speech a", "speech b", "speech c"]


def test_pictures_are_kept_with_their_frames(job):
    frame = Frame(frame_id("v1", 5), "v1", 5, "v1/5.jpg", "0" * 16, 4, 4, Origin("changes"))
    run(job, [Stage("changes", "changes", 1, (), lambda job: iter([Kept(frame, b"\xff\xd8jpeg")]))], Silent())
    assert job.store.picture(frame) == b"\xff\xd8jpeg"


def test_problems_of_single_pieces_make_the_stage_fail_after_all_else_was_done(job):
    def some(job):
        yield row("vision", 0, "slide one")
        job.meter.problems.append("slide 2: the model's answer was no description")
        yield row("vision", 2000, "slide three")

    (work,) = run(job, [Stage("vision", "vision", 1, (), some)], Silent())
    assert (work.state, work.rows, work.reason) == ("failed", 2, "slide 2: the model's answer was no description")


@pytest.mark.parametrize(
    ("states", "rows", "expected"),
    [
        (["done", "skipped"], 3, "ready"),
        (["done", "failed"], 3, "partial"),
        (["failed", "failed"], 0, "failed"),
        ([], 0, "ready"),
    ],
)
def test_the_state_of_a_video_follows_from_its_work(states, rows, expected):
    work = [
        Work("v1", f"s{n}", "k", state, "why" if state == "failed" else None, rows) for n, state in enumerate(states)
    ]
    assert outcome(work).state == expected


def test_rows_of_a_model_that_is_not_here_any_more_are_kept(job):
    scene = Counting("scene")
    run(job, [scene.stage], Silent())
    (work,) = run(job, [replace(scene.stage, skip=lambda job: "no vision model is configured")], Silent())
    assert (work.state, work.rows) == ("done", 3)
    assert texts(job, "scene") == ["scene a", "scene b", "scene c"]
