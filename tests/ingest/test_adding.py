"""What happens to a file over its life: it is no video, is mended, replaced, moved, swapped, gone; a folder is watched."""

import functools
import http.server
import json
import os
import shutil
import sys
import threading
import wave

import numpy as np
import pytest

from videmus import Library
from videmus import library as face
from videmus.config import ModelSettings, Settings
from videmus.errors import MediaError, ModelError, UsageError
from videmus.ingest.pipeline import Silent, run
from videmus.ingest.stage import Job, Options, Stage, Stopped
from videmus.media import fingerprint
from videmus.model import Evidence, Origin, Video, evidence_id
from videmus.models.minds import Minds
from videmus.models.speech import Heard, HeardWord, ScriptedRecogniser, SpeechMinds


class Notes(Silent):
    def __init__(self):
        self.notices, self.started = [], []

    def notice(self, text):
        self.notices.append(text)

    def stage_started(self, video, stage):
        self.started.append((video.title, stage.name))


@pytest.fixture
def library(tmp_path):
    with Library(tmp_path / "library", settings=Settings()) as made:
        yield made


@pytest.fixture
def notes():
    return Notes()


def say(path, *words):
    cues = "".join(f"{n + 1}\n00:00:{n:02},000 --> 00:00:{n + 1:02},000\n{word}\n\n" for n, word in enumerate(words))
    path.write_text(cues)
    old = path.stat().st_mtime - 60  # nobody is writing it any more
    os.utime(path, (old, old))
    return path


def test_a_file_that_was_no_video_is_tried_again_and_stays_failed(library, tmp_path):
    file = tmp_path / "a.mp4"
    file.write_bytes(b"no video")
    first = library.add(file, collection="course", recorded_at="2026-03-05T14:00")
    (again,) = library.retry()
    assert (first.state, again.state) == ("failed", "failed")
    assert (again.id, again.collection, again.recorded_at) == (first.id, "course", first.recorded_at)


def test_an_address_that_did_not_answer_does_not_become_ready_by_a_retry(library):
    first = library.add("http://127.0.0.1:9/a.mp4")
    (again,) = library.retry()
    assert (first.state, again.state) == ("failed", "failed")
    assert again.reason == first.reason


def test_a_mended_file_takes_the_place_of_its_failed_attempt(library, tmp_path, steps_video):
    file = tmp_path / "talk.mp4"
    file.write_bytes(steps_video.read_bytes()[:20])
    failed = library.add(file, collection="course")
    shutil.copy2(steps_video, file)
    (mended,) = library.retry(failed.id)
    assert (mended.state, mended.collection, mended.title) == ("ready", "course", "talk")
    assert [v.id for v in library.videos()] == [mended.id]


def test_a_place_with_another_content_keeps_both_videos_and_says_so(library, tmp_path, notes):
    file = say(tmp_path / "talk.srt", "first")
    first = library.add(file)
    say(file, "second")
    second = library.add(file, events=notes)
    assert {v.id for v in library.videos()} == {first.id, second.id}
    assert any(first.id in text and "another file before" in text for text in notes.notices)
    say(tmp_path / "found.srt", "first")
    notes.notices.clear()
    assert library.add(tmp_path / "found.srt", events=notes).source.endswith("found.srt")
    assert "moved" in notes.notices[0]


class Writing(Notes):
    """Writes to a file when a stage begins, as often as it has something to write."""

    def __init__(self, *writes, at="windows"):
        super().__init__()
        self.writes, self.at = list(writes), at

    def stage_started(self, video, stage):
        super().stage_started(video, stage)
        if stage.name == self.at and self.writes:
            self.writes.pop(0)()


def texts(library):
    return {v.id: " ".join(row.text for row in library.evidence(v.id, "speech")) for v in library.videos()}


def test_a_file_that_is_written_further_while_it_is_read_is_begun_anew(library, tmp_path):
    file = say(tmp_path / "talk.srt", "first")
    events = Writing(lambda: say(file, "first", "second"))
    whole = library.add(file, events=events, collection="course")
    assert (whole.state, whole.collection, texts(library)) == ("ready", "course", {whole.id: "first second"})
    assert [text for text in events.notices if "begun anew" in text]


def test_a_file_that_becomes_another_while_it_is_read_is_begun_anew(library, tmp_path):
    file = say(tmp_path / "talk.srt", "first")
    other = library.add(file, events=Writing(lambda: say(file, "other"), at="index"))
    assert texts(library) == {other.id: "other"}


def test_a_file_that_is_written_to_again_and_again_is_named(library, tmp_path):
    file = say(tmp_path / "talk.srt", "0")
    video = library.add(file, events=Writing(*(lambda n=n: say(file, *"0" * (n + 2)) for n in range(9))))
    assert (video.state, [v.id for v in library.videos()]) == ("failed", [video.id])
    assert "again and again" in video.reason


def test_a_file_that_is_only_touched_while_it_is_read_is_read_once(library, tmp_path):
    file = say(tmp_path / "talk.srt", "first")
    events = Writing(lambda: os.utime(file))
    assert library.add(file, events=events).state == "ready"
    assert [stage for _, stage in events.started].count("speech") == 1 and not events.notices


@pytest.mark.parametrize("again", ["add", "retry"])
def test_a_file_that_was_written_further_takes_the_place_of_its_beginning(library, tmp_path, notes, again):
    file = say(tmp_path / "talk.srt", "first")
    part = library.add(file, collection="course")
    library.edit(part.id, title="My talk", recorded_at="2026-03-05T14:00", recording="week")
    say(file, "first", "second")
    (whole,) = library.retry(events=notes) if again == "retry" else [library.add(file, events=notes)]
    assert texts(library) == {whole.id: "first second"}
    assert (whole.title, whole.collection, whole.recording) == ("My talk", "course", "week")
    assert library.video(whole.id).recorded_at == whole.recorded_at is not None
    assert part.id in " ".join(notes.notices)
    say(file, "another")
    library.add(file)
    assert len(library.videos()) == 2


def test_what_is_still_being_written_leaves_its_beginning_until_it_is_whole(library, tmp_path, notes, monkeypatch):
    file = say(tmp_path / "talk.srt", "first")
    part = library.add(file)
    say(file, "first", "second")
    wait = fingerprint.wait_until_complete

    def still(path, **options):
        raise MediaError("still being written", where=str(path))

    monkeypatch.setattr(fingerprint, "wait_until_complete", still)
    assert library.add(file, events=notes).state == "failed"
    assert library.video(part.id).state == "ready" and not [text for text in notes.notices if "another file" in text]
    say(file, "first", "second", "third")
    monkeypatch.setattr(fingerprint, "wait_until_complete", wait)
    whole = library.add(file)
    assert texts(library) == {whole.id: "first second third"}


def test_a_retry_reads_no_other_content_into_a_video(library, tmp_path, notes):
    file = say(tmp_path / "talk.srt", "first")
    part = library.add(file)
    library.store.edit_video(part.id, state="processing")
    say(file, "another")
    library.retry(events=notes)
    assert texts(library) == {part.id: "first"}
    assert [text for text in notes.notices if "another file before" in text]


def test_a_copy_that_is_not_whole_is_named(library, tmp_path, notes):
    file = tmp_path / "talk.wav"
    with wave.open(str(file), "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", ""))
        sound.writeframes(bytes(64_000))
    content = file.read_bytes()
    file.write_bytes(content[:32_044])
    os.utime(file, (0, 0))
    part = library.add(file, events=notes)
    assert "talk.wav is not whole: it announces 64,044 bytes, and 32,044 are there" in notes.notices[0]
    file.write_bytes(content)
    os.utime(file, (0, 0))
    whole = library.add(file)
    assert [v.id for v in library.videos()] == [whole.id] != [part.id]


def test_two_files_that_swapped_their_names_are_linked_to_their_new_places(library, tmp_path):
    one, two = say(tmp_path / "one.srt", "first"), say(tmp_path / "two.srt", "second")
    ids = [v.id for v in library.add_all([one, two])]
    one.rename(tmp_path / "three.srt")
    two.rename(one)
    (tmp_path / "three.srt").rename(two)
    assert [v.id for v in library.add_all([one, two])] == ids[::-1]
    assert [(library.video(id).source, library.link(id)[1]) for id in ids] == [(str(two), two), (str(one), one)]


def test_an_unfinished_copy_of_a_known_video_leaves_the_video_as_it_is(library, tmp_path):
    file = say(tmp_path / "talk.srt", "word")
    known = library.add(file)
    shutil.copy2(file, tmp_path / "talk.srt.part")
    assert library.add(tmp_path / "talk.srt.part").state == "failed"
    assert library.video(known.id).state == "ready"
    assert len(library.evidence(known.id, "speech")) == 1


def test_a_video_whose_file_went_before_all_was_made_is_not_ready(library, tmp_path):
    file = say(tmp_path / "talk.srt", "word")
    video = library.add(file)
    library.store.edit_video(video.id, state="processing")
    file.unlink()
    (after,) = library.retry()
    assert after.state == "partial"
    assert "not there" in after.reason


def test_a_ready_video_whose_file_is_gone_stays_ready(library, tmp_path):
    file = say(tmp_path / "talk.srt", "word")
    library.add(file)
    file.unlink()
    (after,) = library.retry()
    assert (after.state, after.reason) == ("ready", None)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"speech_model": "tiny.en", "language": "de"}, UsageError),
        ({"speech_model": "no/such/folder"}, ModelError),
        ({"language": "klingon"}, UsageError),
    ],
)
def test_a_speech_model_that_cannot_do_it_costs_no_video_its_speech(library, tmp_path, wrong, error):
    video = library.add(say(tmp_path / "talk.srt", "word"))
    with pytest.raises(error) as caught:
        library.add(tmp_path / "talk.srt", **wrong)
    assert caught.value.next
    assert library.video(video.id) == video
    assert len(library.evidence(video.id, "speech")) == 1


def test_a_watched_folder_gives_what_is_there_and_what_appears_and_each_once(library, tmp_path, notes, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    say(folder / "a.srt", "first")
    waits = iter([lambda: None, lambda: say(folder / "b.srt", "second"), lambda: None, library.stop.set])
    monkeypatch.setattr(library.stop, "wait", lambda seconds: next(waits)())
    added = library.watch([str(folder)], events=notes, collection="course")
    assert [(v.title, v.collection, v.state) for v in added] == [("a", "course", "ready"), ("b", "course", "ready")]
    assert notes.notices.count("watching; Ctrl-C ends") == 2
    assert [title for title, stage in notes.started if stage == "speech"] == ["a", "b"]


def test_a_watched_file_that_goes_on_after_a_pause_is_one_video(library, tmp_path, notes, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    file = say(folder / "talk.srt", "first")
    waits = iter([lambda: say(file, "first", "second"), lambda: None, library.stop.set])
    monkeypatch.setattr(library.stop, "wait", lambda seconds: next(waits)())
    library.watch([str(folder)], events=notes)
    assert list(texts(library).values()) == ["first second"]
    assert [text for text in notes.notices if "takes the place of its beginning" in text]


def test_ctrl_c_ends_the_watching_but_not_silently_the_work(library, tmp_path, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    told = Notes()

    def press(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(library.stop, "wait", press)
    assert library.watch([str(folder)], events=told) == []
    assert told.notices == ["watching; Ctrl-C ends"]
    say(folder / "a.srt", "first")
    monkeypatch.setattr(face.Library, "add_all", press)
    with pytest.raises(KeyboardInterrupt):
        library.watch([str(folder)])


def test_only_folders_are_watched(library, tmp_path):
    with pytest.raises(UsageError, match="only folders"):
        library.watch([str(say(tmp_path / "a.srt", "x"))])


def test_a_stage_that_yields_nothing_for_long_stops_where_it_tells_its_progress(library):
    video = Video("v1", "print", "talk", 60_000, "talk.mp4")
    library.store.put_video(video)
    told = []

    def long(job):
        for n in range(1000):
            job.progress(n, 1000)
            told.append(n)
            if n == 3:
                job.stop.set()
        yield from ()

    job = Job(video, None, Settings(), Options(), Minds(Settings()), library.store, threading.Event())
    with pytest.raises(Stopped):
        run(job, [Stage("long", "long", 1, (), long)], Silent())
    assert told == [0, 1, 2, 3]


@pytest.fixture
def hearing(tmp_path):
    """A library that hears the word "heard" in everything."""

    def heard(samples, language):
        return Heard("heard", (HeardWord(0.0, 0.5, " heard", 0.9),))

    speech = SpeechMinds(
        ModelSettings(),
        load=lambda name, threads: ScriptedRecogniser(heard, name=name),
        voice=lambda samples: np.ones(len(samples) // 512, np.float32),
    )
    settings = Settings()
    with Library(tmp_path / "hearing", settings=settings, minds=Minds(settings, speech=speech)) as library:
        yield library


def said(library):
    return {word for row in library.evidence("talk", "speech") for word in row.text.split()}


def test_recognition_instead_of_subtitles_stays_with_a_video_until_it_is_taken_back(hearing, tmp_path, steps_video):
    file = tmp_path / "talk.mp4"
    shutil.copy2(steps_video, file)
    say(tmp_path / "talk.srt", "written")
    hearing.add(file)
    assert said(hearing) == {"written"}
    hearing.add(file, transcribe=True)
    assert said(hearing) == {"heard"}
    hearing.add(file)
    hearing.retry()
    assert said(hearing) == {"heard"}
    hearing.add(file, transcribe=False)
    assert said(hearing) == {"written"}
    hearing.retry()
    assert said(hearing) == {"written"}


def test_subtitles_that_were_named_for_a_video_stay_with_it(hearing, tmp_path, steps_video):
    file, words = tmp_path / "talk.mp4", say(tmp_path / "words.srt", "written")
    shutil.copy2(steps_video, file)
    hearing.add(file, subtitles=words)
    assert said(hearing) == {"written"}
    hearing.add(file)
    assert [video.state for video in hearing.retry()] == ["ready"]
    assert said(hearing) == {"written"}
    words.unlink()
    (gone,) = hearing.retry()
    assert gone.state == "partial" and "words.srt: the subtitles that were named for it are not there" in gone.reason
    assert said(hearing) == {"written"}


def test_captions_beside_a_video_are_what_is_seen_in_it(hearing, tmp_path, steps_video):
    folder = tmp_path / "walks"
    folder.mkdir()
    shutil.copy2(steps_video, folder / "talk.mp4")
    rows = [
        {"start_ms": 0, "end_ms": 2_000, "text": "C opens the tap"},
        {"start_ms": 3_000, "end_ms": 6_000, "text": "C drinks"},
    ]
    evidence = {"videmus_evidence": 1, "title": "talk", "scene": rows}
    (folder / "talk.captions.json").write_text(json.dumps(evidence))
    (video,) = hearing.add(folder)
    seen = hearing.evidence(video.id, "scene")
    assert [(r.start_ms, r.end_ms, r.text) for r in seen] == [(0, 2_000, "C opens the tap"), (3_000, 4_000, "C drinks")]
    assert {r.origin.model for r in seen} == {None} and seen[0].origin.settings == {"from": "captions"}
    assert any(moment.kind == "scene" for moment in hearing.search("tap"))
    assert hearing.evidence(video.id, "caption"), "what is seen and said is fused"
    before = {w.stage: w.seconds for w in hearing.work(video.id)}
    (folder / "talk.captions.json").write_text('[[0, 1, "C closes the tap"]]')
    hearing.retry()
    assert [r.text for r in hearing.evidence(video.id, "scene")] == ["C closes the tap"]
    assert {w.stage: w.seconds for w in hearing.work(video.id)}["speech"] == before["speech"], "it is not heard anew"


def test_captions_that_were_named_stay_with_a_video_and_are_its_own_alone(hearing, tmp_path, steps_video):
    file, captions = tmp_path / "talk.mp4", tmp_path / "captions.json"
    shutil.copy2(steps_video, file)
    captions.write_text('{"0_10": "C opens the tap", "900_930": "elsewhere"}')
    video = hearing.add(file, captions=captions)
    (seen,) = hearing.evidence(video.id, "scene")
    assert seen.text == "C opens the tap" and seen.end_ms == pytest.approx(1_000, abs=50), "at its average rate"
    captions.unlink()
    (gone,) = hearing.retry()
    assert gone.state == "partial" and "captions.json: the file cannot be read" in gone.reason
    assert [r.text for r in hearing.evidence(video.id, "scene")] == ["C opens the tap"]
    with pytest.raises(UsageError, match="--captions names one video"):
        hearing.add_all([file, steps_video], captions=captions)


def test_captions_that_cannot_be_understood_are_the_reason_why_nothing_is_seen(hearing, tmp_path, steps_video):
    shutil.copy2(steps_video, tmp_path / "talk.mp4")
    (tmp_path / "talk.captions.json").write_text("rubbish")
    video = hearing.add(tmp_path / "talk.mp4")
    assert video.state == "partial" and "talk.captions.json: the file is no JSON" in video.reason


def test_evidence_that_is_changed_is_read_again_into_its_video(library, tmp_path):
    file = tmp_path / "talk.json"
    about = {"videmus_evidence": 1, "title": "Talk", "duration_ms": 5000, "fingerprint": "f" * 32}
    file.write_text(json.dumps({**about, "speech": [{"start_ms": 0, "end_ms": 900, "text": "one"}]}))
    first = library.add(file)
    file.write_text(json.dumps({**about, "speech": [{"start_ms": 0, "end_ms": 900, "text": "two"}]}))
    second = library.add(file)
    assert first.id == second.id
    assert [row.text for row in library.evidence(second.id, "speech")] == ["two"]


def test_rows_of_one_span_stand_in_one_order_whichever_stage_was_first(tmp_path):
    def row(kind):
        return Evidence(evidence_id("v1", kind, 0, 9, kind), "v1", 0, 9, kind, kind, Origin(kind))

    orders = []
    for first, second in (("screen", "speech"), ("speech", "screen")):
        with Library(tmp_path / first, settings=Settings()) as library:
            library.store.put_video(Video("v1", "print", "talk", 9, "talk.mp4", state="ready"))
            for kind in (first, second):
                library.store.begin("v1", kind, "key")
                library.store.add(kind, [row(kind)], {})
            orders.append([r.kind for r in library.evidence("v1")])
    assert orders[0] == orders[1]
    assert len(orders[0]) == 2


def test_a_video_that_came_as_evidence_gets_its_file_and_keeps_its_rows(tmp_path, steps_video):
    exported = tmp_path / "steps.json"
    with Library(tmp_path / "one", settings=Settings()) as one:
        video = one.add(steps_video, title="Steps")
        one.export(video.id, "json", exported)
    notes = Notes()
    with Library(tmp_path / "two", settings=Settings()) as two:
        assert two.link(two.add(exported).id)[1] is None
        again = two.add(steps_video, events=notes)
        assert (again.id, again.title, two.link(again.id)[1]) == (video.id, "Steps", steps_video)
        assert "changes" not in [stage for _, stage in notes.started]
        assert two.frame(again.id, "0:01", tmp_path / "a.png").exists()


@pytest.mark.parametrize("title", ["", "  "])
def test_an_empty_title_is_refused(library, tmp_path, title):
    video = library.add(say(tmp_path / "talk.srt", "word"))
    with pytest.raises(UsageError, match="title"):
        library.edit(video.id, title=title)


@pytest.mark.skipif(sys.platform != "linux", reason="such names are only there")
def test_a_name_that_is_no_text_is_a_failed_video_and_the_others_are_added(library, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    say(folder / "good.srt", "word")
    say(folder / os.fsdecode(b"bad\xff.srt"), "other")
    added = library.add(folder)
    assert sorted((v.title, v.state) for v in added) == [("bad\ufffd", "failed"), ("good", "ready")]
    assert "rename" in next(v.reason for v in added if v.state == "failed")
    assert {v.state for v in library.retry()} == {"failed", "ready"}


@pytest.mark.skipif(sys.platform == "win32", reason="no such things there")
def test_a_pipe_or_a_device_is_refused_at_once(library, tmp_path):
    os.mkfifo(tmp_path / "pipe.mp4")
    for given in (tmp_path / "pipe.mp4", "/dev/zero"):
        with pytest.raises(UsageError, match="device or a pipe"):
            library.add(given)
    with pytest.raises(UsageError, match="nothing to add"):
        library.add(tmp_path, include=["*.mp4"])


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_title_out_of_a_file_name_is_one_line(library, tmp_path):
    assert library.add(say(tmp_path / "two\nlines\x1b.srt", "word")).title == "two lines "


@pytest.fixture
def served(tmp_path):
    """A folder on the loopback and its address."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.func.log_message = lambda *given: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_address_is_fetched_once_and_a_missing_one_is_a_failed_video(library, served, steps_video, notes):
    folder, address = served
    shutil.copy(steps_video, folder / "a talk.mp4")
    told = []
    notes.fetching = lambda *given: told.append(given)
    good, missing = library.add_all([f"{address}/a%20talk.mp4", f"{address}/none.mp4"], events=notes)
    assert (good.state, good.title, good.source) == ("ready", "a talk", f"{address}/a%20talk.mp4")
    size = steps_video.stat().st_size
    assert told[-1] == (f"{address}/a%20talk.mp4", size, size)
    assert not any("still being written" in text for text in notes.notices)
    assert missing.state == "failed"
    assert "404" in missing.reason
    told.clear()
    assert library.add(f"{address}/a%20talk.mp4", events=notes).id == good.id
    assert told == []
    shutil.copy(steps_video, folder / "none.mp4")
    (mended,) = library.retry(missing.id)
    assert mended.id == good.id  # the same content under another address
    assert [v.id for v in library.videos()] == [good.id]


def test_subtitles_and_evidence_files_are_taken_by_their_address(library, served):
    folder, address = served
    say(folder / "talk.srt", "word")
    evidence = {"videmus_evidence": 1, "title": "Tides", "duration_ms": 5000}
    (folder / "tides.json").write_text(
        json.dumps(evidence | {"speech": [{"start_ms": 0, "end_ms": 900, "text": "Neap tides."}]})
    )
    (folder / "other.json").write_text("{}")
    talk, tides, other = library.add_all([f"{address}/{name}" for name in ("talk.srt", "tides.json", "other.json")])
    assert (talk.state, talk.title, talk.source) == ("ready", "talk", f"{address}/talk.srt")
    assert (tides.state, tides.title, tides.source) == ("ready", "Tides", f"{address}/tides.json")
    assert other.state == "failed" and "evidence" in other.reason
    assert texts(library)[talk.id] == "word" and texts(library)[tides.id] == "Neap tides."
    assert {v.state for v in library.retry()} == {"ready", "failed"}
    library.add(f"{address}/tides.json")
    assert len(library.videos()) == 3
    assert [p.suffix for p in (library.path / "media").iterdir()] == [".srt"]
