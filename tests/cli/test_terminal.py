"""The commands as people and programs type them: documents, exit statuses, errors."""

import json

import pytest

from videmus import __version__, cli
from videmus.models.scripted_server import ScriptedServer

VIDEO_KEYS = {"id", "title", "duration_ms", "source", "collection", "recorded_at", "state", "reason"}


def test_add_gives_the_videos_with_their_stages(terminal, talk):
    (video,) = terminal.json("add", talk)["videos"]
    assert VIDEO_KEYS.issubset(video)
    assert (video["title"], video["duration_ms"], video["state"], video["reason"]) == ("Tides", 120_000, "ready", None)
    assert {"name", "seconds", "calls", "cost"} <= set(video["stages"][0])
    scene = next(s for s in video["stages"] if s["name"] == "scene")
    assert (scene["state"], bool(scene["reason"])) == ("skipped", True)


def test_a_second_add_changes_nothing(terminal, talk):
    first = terminal.json("add", talk)["videos"][0]
    second = terminal.json("add", talk)["videos"][0]
    assert first["id"] == second["id"]
    assert len(terminal.json("list")["videos"]) == 1


def test_list_narrows_to_a_collection(library):
    assert [v["title"] for v in library.json("list")["videos"]] == ["Tides", "Rivers"]
    assert library.json("list", "--collection", "other") == {"videos": []}


def test_show_lists_segments_and_what_was_not_run(library):
    shown = library.json("show", "Tides", "--kind", "window")
    assert shown["video"]["title"] == "Tides"
    assert {"id", "kind", "slide", "start_ms", "end_ms", "title", "text", "states"} <= set(shown["segments"][0])
    assert shown["corrections"] == []
    status, out, _ = library("show", "Tides", "--verbose")
    assert status == 0
    assert "not run, there is no media file" in out


@pytest.mark.parametrize("name", ["Tides", "tides", "tides.json"])
def test_a_video_is_found_by_title_or_file_name(library, name):
    assert library.json("show", name)["video"]["title"] == "Tides"


def test_a_video_is_found_by_its_id_and_a_prefix_of_it(library):
    id = library.json("list")["videos"][0]["id"]
    assert library.json("show", id)["video"]["id"] == library.json("show", id[:8])["video"]["id"] == id


def test_titles_that_fit_several_videos_are_listed(terminal, talk, tmp_path):
    twin = tmp_path / "twin.json"
    twin.write_text(json.dumps({**json.loads(talk.read_text()), "duration_ms": 130_000}))
    terminal.json("add", talk, twin)
    error = terminal.json("show", "Tides", status=2)["error"]
    assert error["where"].count("Tides") == 2
    assert error["next"]


def test_search_finds_words_numbers_substrings_and_phrases(library):
    best = library.json("search", "neap tides")["results"][0]
    assert {"video", "title", "start_ms", "end_ms", "kind", "text", "score", "evidence"} <= set(best)
    assert (best["title"], best["kind"]) == ("Tides", "speech")
    assert best["start_ms"] <= 60_000 < best["end_ms"]
    assert "RE16" in library.json("search", "RE16")["results"][0]["text"]
    assert "3.5" in library.json("search", "3.5")["results"][0]["text"]
    assert library.json("search", '"nearest to it"')["results"]
    assert library.json("search", '"to it nearest"')["results"] == []


def test_scopes_narrow_a_search(library):
    assert {r["title"] for r in library.json("search", "sand", "--video", "Rivers")["results"]} == {"Rivers"}
    assert all(r["kind"] == "speech" for r in library.json("search", "tide", "--stream", "speech")["results"])
    said = library.json("search", "moon", "--speaker", "ann")["results"]
    assert said
    assert all("La Rance" not in r["text"] for r in said)
    late = library.json("search", "moon", "--start", "0:55", "--video", "Tides", "--stream", "speech")["results"]
    assert [r["start_ms"] for r in late] == [60_000]


def test_ask_answers_with_citations_that_hold_the_quote(library):
    given = library.json("ask", "How many megawatts does the plant at La Rance make?")
    assert given["grounding"] in ("supported", "partial")
    assert "240" in given["answer"]
    assert "[1]" in given["answer"]
    citation = given["citations"][0]
    assert {"n", "evidence", "video", "title", "start_ms", "end_ms", "kind", "quote", "url"} <= set(citation)
    assert (citation["n"], citation["start_ms"], citation["end_ms"]) == (1, 8_000, 16_000)
    assert citation["quote"] in "The plant at La Rance makes 240 megawatts."
    assert given["cost"]["calls"] == 0


def test_what_came_as_an_evidence_file_is_named_and_not_linked(library):
    id = library.json("list")["videos"][0]["id"]
    (first, *_) = library.json("ask", "Who pulls the water?", "--video", id)["citations"]
    assert first["url"] == f"videmus:{id}#t=0"
    assert library("open", "Tides", "0:08")[1].endswith(f"; the moment is videmus:{id}#t=8\n")
    assert "](<" not in library("export", "Tides")[1]


def test_what_the_library_does_not_say_is_said_so(library):
    given = library.json("ask", "Which violin concerto did Sibelius write in 1905?")
    assert (given["grounding"], given["citations"]) == ("unsupported", [])
    assert "does not say" in given["answer"]


def test_edit_changes_what_a_person_knows_better(library):
    edited = library.json("edit", "Tides", "--title", "Ebb", "--collection", "", "--recorded-at", "2026-03-05T14:00")
    (video,) = edited["videos"]
    assert (video["title"], video["collection"], video["recorded_at"]) == ("Ebb", None, "2026-03-05T14:00:00")
    assert library.json("edit", "Ebb", status=2)["error"]["what"] == "nothing to change"


def test_remove_asks_unless_told_not_to(library):
    assert library.json("remove", "Rivers", status=2)["error"]["next"] == "add --yes"
    assert [v["title"] for v in library.json("remove", "Rivers", "--yes")["removed"]] == ["Rivers"]
    assert [v["title"] for v in library.json("list")["videos"]] == ["Tides"]
    assert {r["title"] for r in library.json("search", "sand")["results"]} <= {"Tides"}


@pytest.mark.parametrize(
    ("format", "holds"),
    [
        ("srt", "00:01:00,000 --> 00:01:08,000"),
        ("vtt", "<v Bob>"),
        ("md", "# Tides"),
        ("json", '"videmus_evidence": 1'),
    ],
)
def test_export_writes_text_to_standard_output_and_to_a_file(library, tmp_path, format, holds):
    status, out, _ = library("export", "Tides", "--format", format)
    assert status == 0
    assert holds in out
    file = tmp_path / f"out.{format}"
    assert library.json("export", "Tides", "--format", format, "-o", file)["written"][0] == str(file)
    assert holds in file.read_text()
    assert library.json("export", "Tides", "--format", format, "-o", file, status=2)["error"]["where"] == str(file)
    library.json("export", "Tides", "--format", format, "-o", file, "--force")


def test_an_exported_video_is_read_back_to_the_same_rows(library, tmp_path, capsys):
    from videmus import Library

    file = tmp_path / "export.json"
    library.json("export", "Tides", "--format", "json", "-o", file)
    with Library(library.library) as first, Library(tmp_path / "second") as second:
        again = second.add(file)
        assert second.evidence(again.id) == first.evidence(again.id)
        assert second.segments(again.id) == first.segments(again.id)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["lst"], "No such command"),
        (["search"], "Missing argument"),
        (["search", "x", "--limit", "0"], "limit"),
        (["search", "x", "--stream", "smell"], "smell"),
        (["search", "x", "--start", "noon"], "noon"),
        (["ask", "x", "--at", "yesterday"], "yesterday"),
        (["ask", "   "], "empty"),
        (["search", ""], "the search is empty"),
        (["show", "nothing"], "no video"),
        (["export", "Tides", "--format", "doc"], "doc"),
        (["open", "Tides", "9:00:00"], "outside"),
        (["add", "nowhere.mp4"], "no such file"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what(library, arguments, what):
    error = library.json(*arguments, status=2)["error"]
    assert what in error["what"] + error["where"]
    assert set(error) == {"what", "where", "next"}
    status, out, err = library(*arguments)
    assert (status, out) == (2, "")
    assert "error:" in err


def test_a_bad_file_among_good_ones_is_status_3_and_alone_status_1(terminal, talk, tmp_path):
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(b"this is no video at all")
    document = terminal.json("add", talk, bad, status=3)
    assert [v["state"] for v in document["videos"]] == ["ready", "failed"]
    assert str(bad) in document["videos"][1]["reason"]
    assert terminal.json("add", bad, status=1)["videos"][0]["state"] == "failed"


def test_the_version_is_a_document_for_programs(terminal):
    assert terminal("--version")[:2] == (0, f"videmus {__version__}\n")
    assert terminal.json("--version") == {"version": __version__}


def test_global_options_stand_anywhere(library):
    status = cli.main(["list", "--json", "--library", str(library.library)])
    assert status == 0
    assert len(json.loads(library.capsys.readouterr().out)["videos"]) == 2


def test_titles_are_no_markup_on_the_terminal(terminal, tmp_path):
    file = tmp_path / "odd.json"
    file.write_text(json.dumps({"videmus_evidence": 1, "title": "[red]Odd[/red] [/]", "duration_ms": 5, "speech": []}))
    status, out, _ = terminal("add", file)
    assert status == 0
    assert "[red]Odd[/red] [/]" in out


def test_every_command_has_help(terminal):
    _, out, _ = terminal("--help")
    commands = [
        line.split()[0] for line in out.split("Commands:")[1].splitlines() if line.startswith("  ") and line.split()
    ]
    assert {
        "add",
        "list",
        "show",
        "search",
        "ask",
        "open",
        "export",
        "clip",
        "frame",
        "edit",
        "remove",
        "retry",
    } <= set(commands)
    for command in ("add", "search", "export", "doctor", "models"):
        status, out, _ = terminal(command, "--help")
        assert status == 0
        assert len(out) > 200


def test_config_shows_every_setting(terminal):
    document = terminal.json("config")
    assert document["settings"]["windows"]["length_ms"] == 45_000
    status, out, _ = terminal("config")
    assert status == 0
    assert "[windows]" in out


def test_a_folder_that_is_no_library_is_refused(terminal, tmp_path):
    terminal.library = tmp_path / "photos"
    terminal.library.mkdir()
    (terminal.library / "cat.jpg").write_bytes(b"x")
    assert "not a library" in terminal.json("list", status=1)["error"]["what"]


def test_files_of_a_recording_without_a_clock_time_are_named(terminal, talk, rivers):
    terminal.json("add", talk, "--recording", "week", "--recorded-at", "2026-03-05T14:00")
    (added,) = terminal.json("add", rivers, "--recording", "week")["videos"]
    assert terminal.json("list", "--recording", "week")["timeline"]["unplaced"] == [added["id"]]
    _, out, _ = terminal("list", "--recording", "week")
    assert f"{added['id']}  no clock time: videmus edit {added['id']} --recorded-at" in out


def test_what_a_transcript_says_is_seen_in_the_clip_that_ran_then(terminal, tmp_path):
    clips = tmp_path / "ego"
    clips.mkdir()
    for start in ("11094208", "11101208", "11200000"):
        clip = {"videmus_evidence": 1, "title": f"DAY1_A1_JAKE_{start}", "duration_ms": 30_000, "has_video": True}
        (clips / f"DAY1_A1_JAKE_{start}.json").write_text(json.dumps(clip))
    cues = ("00:00:05,000 --> 00:00:08,000\nBread is baking.", "00:10:20,000 --> 00:10:24,000\nThe kettle is hot.")
    (clips / "A1_JAKE_DAY1_11000000.srt").write_text("\n\n".join(f"{n}\n{cue}" for n, cue in enumerate(cues, 1)))
    terminal.json("add", clips, "--recording", "jake")
    line = terminal.json("list", "--recording", "jake")["timeline"]
    assert line["recorded_ms"] == 90_000 and [s["kind"] for s in line["seams"]] == ["gap"]
    assert [t["start"] for t in line["transcripts"]] == ["DAY1 11:00:00"]
    _, out, _ = terminal("list", "--recording", "jake")
    assert "1:30 recorded, 1 gap, no overlaps" in out and "DAY1 11:00:00 – DAY1 11:10:24, 1 transcript" in out
    (cited,) = terminal.json("ask", "What is hot?")["citations"]
    assert cited["title"] == "A1_JAKE_DAY1_11000000" and cited["start_ms"] == 620_000
    seen = cited["footage"]
    assert (seen["title"], seen["start_ms"]) == ("DAY1_A1_JAKE_11101208", 7_600) and cited["url"] == seen["url"]
    _, out, _ = terminal("ask", "What is hot?")
    assert "A1_JAKE_DAY1_11000000 · 10:20–10:24 · speech · seen in DAY1_A1_JAKE_11101208 · 0:07–0:11" in " ".join(
        out.split()
    )
    assert terminal.json("open", cited["video"], "10:20")["url"] == seen["url"]
    (unseen,) = terminal.json("ask", "What is baking?")["citations"]
    assert unseen["footage"] is None and unseen["url"].endswith("A1_JAKE_DAY1_11000000.srt#t=5")


def test_a_calendar_date_is_not_compared_with_counted_days(terminal, tmp_path, talk):
    clip = {
        "videmus_evidence": 1, "title": "DAY2_A1_JAKE_14000000", "duration_ms": 60_000,
        "speech": [{"start_ms": 0, "end_ms": 5_000, "text": "The kettle is hot."}],
    }  # fmt: skip
    (tmp_path / "DAY2_A1_JAKE_14000000.json").write_text(json.dumps(clip))
    terminal.json("add", tmp_path / "DAY2_A1_JAKE_14000000.json", "--recording", "jake")
    for option in ("--at", "--after", "--before"):
        error = terminal.json("ask", "What is hot?", option, "2026-03-05T14:30", "--recording", "jake", status=2)[
            "error"
        ]
        assert "is a calendar date, and jake has none" in error["what"]
        assert 'write "DAY2 14:30:00"' in error["next"] and "--recorded-at 2026-03-05" in error["next"]
    assert terminal.json("ask", "What is hot?", "--at", "DAY2 14:30:00")["citations"]
    assert not terminal.json("ask", "What is hot?", "--at", "DAY1 14:30:00")["citations"]
    terminal.json("add", talk, "--recording", "course", "--recorded-at", "2026-03-05T14:00")
    error = terminal.json("search", "kettle", "--at", "2026-03-05T15:00", status=2)["error"]
    assert "--recording" in error["next"]
    found = terminal.json("search", "Moon", "--at", "2026-03-05T15:00", "--recording", "course")["results"]
    assert {moment["title"] for moment in found} == {"Tides"}


def test_why_one_slide_was_not_understood_stands_at_that_slide(terminal, tmp_path, monkeypatch):
    texts = ["Why the sea rises", "The Moon pulls the water", "Neap tides at the quarter moons"]
    spans = [{"start_ms": 20_000 * n, "end_ms": 20_000 * (n + 1), "text": text} for n, text in enumerate(texts)]
    slides = [{**s, "kind": "slide", "slide": n, "title": s["text"]} for n, s in enumerate(spans, 1)]
    talk = {"videmus_evidence": 1, "title": "Sea", "duration_ms": 60_000, "screen": spans, "segments": slides}
    (tmp_path / "sea.json").write_text(json.dumps(talk))

    def model(seen):
        if "misheard" in seen.schema["properties"]:
            return "rubbish" if texts[1] in seen.user else {"keywords": ["tide"]}
        return {"description": "The sea.", "chapters": [], "summary": [], "statements": []}

    with ScriptedServer(model) as server:
        monkeypatch.setenv("VIDEMUS_MODELS_LANGUAGE", "vllm:scripted")
        monkeypatch.setenv("VIDEMUS_MODELS_BASE_URL", server.url)
        terminal.json("add", tmp_path / "sea.json")
    shown = terminal.json("show", "Sea")["segments"]
    told = [slide["reason"] for slide in shown]
    assert told[0] is told[2] is None and told[1] == "the model's reply does not fit: the reply holds no JSON object"
    _, out, _ = terminal("show", "Sea")
    lines = out.splitlines()
    (at,) = [n for n, line in enumerate(lines) if line.startswith("0:20–0:40")]
    assert "the model's reply does not fit" in lines[at + 1] and lines[at + 2].startswith("0:40–1:00")


def test_show_tells_where_the_speech_is_from_and_the_way_back(terminal, tmp_path, talk):
    (tmp_path / "sea.srt").write_text("1\n00:00:00,000 --> 00:00:02,000\nThe sea.\n")
    terminal.json("add", tmp_path / "sea.srt", talk)
    assert terminal.json("show", "sea")["speech"] == {"from": "subtitles", "models": [], "transcribe": False}
    assert "speech: out of the subtitles" in terminal("show", "sea")[1]
    assert "speech: out of the evidence file" in terminal("show", "Tides")[1]
    terminal.json("add", tmp_path / "sea.srt", "--transcribe")
    assert "subtitles again: `videmus add FILE --no-transcribe`" in terminal("show", "sea")[1]
    terminal.json("add", tmp_path / "sea.srt", "--no-transcribe")
    assert terminal.json("show", "sea")["speech"]["transcribe"] is False
