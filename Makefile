PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test bench lint requirements clean

demo: $(VENV)/demo.stamp  ## index the sample lecture and ask it four questions
	@$(BIN)/python examples/demo.py

test: $(VENV)/dev.stamp  ## lint, types, import order, tests
	$(BIN)/ruff check src tests bench examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2

bench: $(VENV)/dev.stamp  ## the measurements, side by side: make bench BENCH="--data FOLDER"
	$(BIN)/python -m bench $(BENCH)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: requirements/base.txt requirements/build.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/base.txt -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt requirements/build.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/demo.stamp

requirements:  ## pin anew, with hashes (needs uv)
	uv pip compile requirements/build.in --universal --python-version 3.11 --generate-hashes -q -o requirements/build.txt
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes -q -o requirements/base.txt
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes -q -o requirements/dev.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist
