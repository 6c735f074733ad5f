# Two commands are all a newcomer needs: make demo, make test.
PYTHON ?= python3
BIN := .venv/bin
DATA := ../shared/data
export HIDESEEK_DATA ?= $(if $(wildcard $(DATA)),$(abspath $(DATA)))

NATIVE := src/hideseek/engine/native

.PHONY: demo test test-lowest test-engines coverage docs tutorials dist install check clean

demo: .venv/installed
	$(BIN)/hideseek demo --out demo --force

test: check $(NATIVE)/libstep.so
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test-lowest: .venv-lowest/installed
	.venv-lowest/bin/python -m pytest --numprocesses 2 --dist loadfile

# What `make test` skips: tests with Spark (which needs Java), Dask, MLflow and FastAPI.
test-engines: .venv-engines/installed $(NATIVE)/libstep.so
	.venv-engines/bin/python -m pytest tests/scoring/test_engines.py tests/test_serving.py

# What no test runs, by file and line; for a part of the tests: make coverage TESTS=tests/search
coverage: .venv/installed $(NATIVE)/libstep.so
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --numprocesses 2 --dist loadfile $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# The site, in docs/_build/html: read it with any browser. Tutorials on published tables are shown but not run.
docs: .venv/installed $(NATIVE)/libstep.so
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# The same with every tutorial run, which takes minutes and needs the published tables.
tutorials: export HIDESEEK_TUTORIALS = all
tutorials: docs

# Wheel and source archive, in dist/, each tried in an environment that has nothing else of this repository.
dist:
	rm -rf dist build
	$(PYTHON) -m venv build/tools
	build/tools/bin/pip install --quiet build twine
	build/tools/bin/python -m build
	build/tools/bin/twine check --strict dist/*
	$(PYTHON) -m venv build/try
	build/try/bin/pip install --quiet --constraint constraints.txt dist/*.whl
	cd build && try/bin/python ../examples/try_release.py && try/bin/hideseek --version
	build/try/bin/pip install --quiet --constraint constraints.txt "$$(ls dist/*.whl)[plot]"
	cd build && try/bin/python ../examples/try_release.py --plot
	build/try/bin/pip install --quiet --force-reinstall --no-deps dist/*.tar.gz
	cd build && try/bin/python ../examples/try_release.py

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

install: .venv/installed

# The stamp is renewed only when what is to be installed has changed.
.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[docs,test]'
	touch $@

# Installing compiles it too. Without a C compiler torch takes its place.
$(NATIVE)/libstep.so: $(wildcard $(NATIVE)/*.[ch]) $(NATIVE)/compile.py
	-$(PYTHON) $(NATIVE)/compile.py

.venv-lowest/installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install --quiet --constraint constraints-lowest.txt --editable '.[test]'
	touch $@

.venv-engines/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-engines
	.venv-engines/bin/pip install --quiet --constraint constraints.txt --editable '.[test]' \
		pyspark 'dask[dataframe]' mlflow fastapi httpx
	touch $@

clean:
	rm -rf .venv .venv-lowest .venv-engines demo docs/_build docs/generated build dist .coverage .coverage.* $(NATIVE)/libstep.so
