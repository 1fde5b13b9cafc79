"""The runtime of the models counts nothing and keeps no id of this machine."""

import os
import subprocess
import sys

RUN = """
import videmus.models.speech, faster_whisper.utils, pathlib, onnxruntime
model = next(pathlib.Path(faster_whisper.utils.get_assets_path()).glob("*.onnx"))
onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
"""


def test_loading_a_model_leaves_no_telemetry_behind(tmp_path):
    given = {name: value for name, value in os.environ.items() if "TELEMETRY" not in name}
    subprocess.run([sys.executable, "-c", RUN], check=True, env={**given, "HOME": str(tmp_path)})
    assert not list(tmp_path.rglob("onnxruntime*"))
