"""Settings: defaults, one TOML file, the environment, arguments; later ones win.

Every number that came from a paper or a measurement is here, in the section of the room that uses it, with its source:
what a library works with (`means`), what is made of a video (`ingest`), how a question is answered (`questions`).
The file is `config.toml` in the user's configuration folder, or where VIDEMUS_CONFIG points; a setting `[search] limit`
is VIDEMUS_SEARCH_LIMIT in the environment. Keys of remote models are never settings: they stay in the environment.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from videmus.config.ingest import (
    ClipSettings,
    GraphSettings,
    HierarchySettings,
    PremindSettings,
    ReadingSettings,
    ScreenSettings,
    SlideSettings,
    SpeechSettings,
    SummarySettings,
    WindowSettings,
)
from videmus.config.means import ModelSettings, StoreSettings, VectorSettings
from videmus.config.questions import AgentSettings, AnswerSettings, ReadSettings, SearchSettings
from videmus.errors import UsageError

__all__ = [
    "AgentSettings",
    "AnswerSettings",
    "ClipSettings",
    "GraphSettings",
    "HierarchySettings",
    "ModelSettings",
    "PremindSettings",
    "ReadSettings",
    "ReadingSettings",
    "ScreenSettings",
    "SearchSettings",
    "Settings",
    "SlideSettings",
    "SpeechSettings",
    "StoreSettings",
    "SummarySettings",
    "VectorSettings",
    "WindowSettings",
    "as_toml",
    "cache_folder",
    "default_library",
    "load",
    "models_folder",
    "user_file",
]


@dataclass(frozen=True, slots=True)
class Settings:
    models: ModelSettings = field(default_factory=ModelSettings)
    windows: WindowSettings = field(default_factory=WindowSettings)
    clips: ClipSettings = field(default_factory=ClipSettings)
    speech: SpeechSettings = field(default_factory=SpeechSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    hierarchy: HierarchySettings = field(default_factory=HierarchySettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    slides: SlideSettings = field(default_factory=SlideSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    premind: PremindSettings = field(default_factory=PremindSettings)
    summary: SummarySettings = field(default_factory=SummarySettings)
    read: ReadSettings = field(default_factory=ReadSettings)


def user_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The settings file: VIDEMUS_CONFIG, else config.toml in the platform's configuration folder."""
    if named := environment.get("VIDEMUS_CONFIG"):
        return Path(named)
    return _folder(environment, "XDG_CONFIG_HOME", ".config", "APPDATA") / "videmus" / "config.toml"


def default_library(environment: Mapping[str, str] = os.environ) -> Path:
    """The library used when none is named: VIDEMUS_LIBRARY, else the user's data folder."""
    if named := environment.get("VIDEMUS_LIBRARY"):
        return Path(named)
    return _folder(environment, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA") / "videmus"


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """What can be made again (joined weights, verification stamps): VIDEMUS_CACHE, else the user's cache folder."""
    if named := environment.get("VIDEMUS_CACHE"):
        return Path(named)
    return _folder(environment, "XDG_CACHE_HOME", ".cache", "LOCALAPPDATA") / "videmus"


def models_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Models that a person brought (`videmus models install`): VIDEMUS_MODELS, else beside the default library."""
    if named := environment.get("VIDEMUS_MODELS"):
        return Path(named)
    return _folder(environment, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA") / "videmus-models"


def _folder(environment: Mapping[str, str], xdg: str, below_home: str, windows: str) -> Path:
    if named := environment.get(xdg):
        return Path(named)
    if sys.platform == "win32" and (named := environment.get(windows)):
        return Path(named)
    return Path.home() / below_home


def load(
    arguments: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings in force. `arguments` is {section: {name: value}}.

    Raises UsageError for a file that is no TOML, or that VIDEMUS_CONFIG names and that is not there, for an unknown
    section or name, and for a value of the wrong type.
    """
    named = file is None and environment.get("VIDEMUS_CONFIG")
    file = file or user_file(environment)
    settings = Settings()
    if named and not file.is_file():
        raise UsageError(
            "VIDEMUS_CONFIG names no file", where=str(file), next="mend the path, or unset it to use the defaults"
        )
    if file.is_file():
        try:
            settings = _applied(settings, tomllib.loads(file.read_text("utf-8")), str(file))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(
                f"the settings file is not valid TOML: {error}",
                where=str(file),
                next="mend the line or delete the file",
            ) from error
    settings = _applied(settings, _from_environment(environment), "environment")
    return _applied(settings, arguments or {}, "arguments")


def as_toml(value: str | float | bool) -> str:
    """A setting's value as it is written in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _from_environment(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for section in fields(Settings):
        for name in fields(get_type_hints(Settings)[section.name]):
            value = environment.get(f"VIDEMUS_{section.name}_{name.name}".upper())
            if value is not None:
                found.setdefault(section.name, {})[name.name] = value
    return found


def _applied(settings: Settings, values: Mapping[str, Mapping[str, Any]], where: str) -> Settings:
    known = {f.name for f in fields(Settings)}
    for section, pairs in values.items():
        if section not in known:
            raise UsageError(f"unknown section [{section}]", where=where, next=f"known: {', '.join(sorted(known))}")
        current = getattr(settings, section)
        hints = get_type_hints(type(current))
        changed: dict[str, Any] = {}
        for name, value in pairs.items():
            if name not in hints:
                raise UsageError(
                    f"unknown setting {name} in [{section}]", where=where, next=f"known: {', '.join(sorted(hints))}"
                )
            changed[name] = _typed(value, hints[name], f"{where}: {section}.{name}")
        settings = replace(settings, **{section: replace(current, **changed)})
    return settings


def _typed(value: Any, kind: Any, where: str) -> Any:
    if kind is bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            return value.lower() in ("1", "true", "yes", "on")
    elif kind in (int, float):
        try:
            if not isinstance(value, bool):
                return kind(value)
        except (TypeError, ValueError):
            pass
    elif kind is str and isinstance(value, str):
        return value
    raise UsageError(f"{value!r} is not a {kind.__name__}", where=where, next="see `videmus config`")
