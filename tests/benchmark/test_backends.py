"""The same grid gives the same results everywhere, and a worker that dies costs time alone."""

import os
import sys
from importlib.util import find_spec

import pytest
import stillborn
from fakes import Dying, Failing, Fake, Stacked, keep_masks, lines
from test_running import assert_same_scores

from hideseek import HideSeekClassifier, HideSeekError, HideSeekWarning, InputError
from hideseek.benchmark import Config, run
from hideseek.benchmark import _processes as processes
from hideseek.benchmark._backends import available_cores, workers_of

SYN = {f"Syn{i}": {"maker": "make_syn", "parameters": {"name": f"Syn{i}", "n_samples": 120}} for i in (1, 4)}


def grid(log):
    quick = HideSeekClassifier("fast", steps=20, batch_size=32)
    return Config({"quick": quick, "fake": Fake(log=log), "failing": Failing(log=log)}, SYN, seeds=2)


@pytest.mark.filterwarnings("ignore::hideseek.errors.HideSeekWarning")
def test_processes_give_what_this_process_gives_with_their_share_of_the_threads(log, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "available_cores", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    here = run(grid(log), tmp_path / "here", stack_size=3, keep=keep_masks)
    there = run(grid(log), tmp_path / "there", stack_size=3, keep=threads, backend="processes", n_jobs=2)
    assert len(here.failed) == len(there.failed) == 2
    finished = [r for r in there if r["status"] == "finished"]
    for name, expected in (("torch", 3), ("openmp", 3), ("mkl", 1)):
        assert {r["scores"].pop(name) for r in finished} == {expected}
    assert_same_scores(here, there)
    assert [r["stack"] for r in here] == [r["stack"] for r in there]
    assert there.arrays(finished[0])["masks"].shape == (3, 11)
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["MKL_NUM_THREADS"] == "1"


def threads(model, test, explanation):
    import torch

    variables = {"openmp": "OMP_NUM_THREADS", "mkl": "MKL_NUM_THREADS"}
    counts = {name: int(os.environ[variable]) for name, variable in variables.items()}
    return {"torch": torch.get_num_threads(), **counts, **keep_masks(model, test, explanation)}


def test_a_job_whose_worker_dies_is_done_by_another_and_fails_if_that_dies_too(own, log, tmp_path):
    methods = {"once": Dying(log=f"{log} once"), "always": Dying(log=f"{log} always", deaths=99)}
    with pytest.warns(HideSeekWarning, match=r"1 of 4 jobs failed: always on own, seed 1 \(WorkerDied\)"):
        results = run(Config(methods, {"own": own}, seeds=2), tmp_path, backend="processes", n_jobs=1)
    assert [r["status"] for r in results] == ["finished", "finished", "finished", "failed"]
    assert results.failed[0]["error"]["message"].startswith("the worker process died 2 times in this job")
    for name in methods:
        assert sorted(lines(f"{log} {name}")) == ["fit 0", "fit 1", "fit 1"]


def test_a_stack_whose_worker_keeps_dying_is_done_one_by_one(own, monkeypatch, tmp_path):
    def dies_in_company(pieces, work, n_jobs, device):
        for piece in pieces:
            yield piece, None if len(piece) > 1 else work(piece)

    monkeypatch.setattr(processes, "on_processes", dies_in_company)
    results = run(Config({"mine": Stacked()}, {"own": own}, seeds=[0, 2, 3]), tmp_path, backend="processes")
    assert [(r["status"], r["stack"]) for r in results] == [("finished", 1)] * 3


def test_what_other_processes_cannot_have_is_said(own, tmp_path):
    class Local(Fake):
        pass

    def local(*_):
        return {}

    with pytest.raises(InputError, match=r"cannot send this to another process: .*top level of a module"):
        run(Config({"mine": Local}, {"own": own}), tmp_path, backend="processes")
    with pytest.raises(InputError, match="cannot send this to another process"):
        run(Config({"mine": Fake}, {"own": own}), tmp_path, backend="processes", keep=local)


def test_workers_that_cannot_start_are_said(own, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_serve", stillborn.serve)
    with pytest.raises(HideSeekError, match=r"a worker process could not start.*`if __name__ == '__main__':`"):
        run(Config({"mine": Fake()}, {"own": own}), tmp_path, backend="processes")


# -- Ray ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ray():
    if find_spec("ray") is None:
        pytest.skip("needs Ray, which is not installed: pip install 'hideseek[ray]'")
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    paths = os.pathsep.join(path for path in sys.path if path)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("ignore::hideseek.errors.HideSeekWarning")
def test_ray_gives_what_this_process_gives(ray, log, tmp_path):
    here = run(grid(log), tmp_path / "here", stack_size=3, keep=keep_masks)
    there = run(grid(log), tmp_path / "there", stack_size=3, keep=keep_masks, backend="ray")
    assert len(here.failed) == len(there.failed) == 2
    assert_same_scores(here, there)
    assert [r["stack"] for r in here] == [r["stack"] for r in there]


def test_a_worker_of_ray_that_is_killed_costs_nothing_but_time(ray, own, log, tmp_path):
    results = run(Config({"mine": Dying(log=log)}, {"own": own}, seeds=3), tmp_path, backend="ray")
    assert [r["status"] for r in results] == ["finished"] * 3
    assert sorted(lines(log)) == ["fit 0", "fit 1", "fit 1", "fit 2"]


def test_a_job_that_kills_every_worker_of_ray_fails(ray, own, log, tmp_path):
    with pytest.warns(HideSeekWarning, match=r"1 of 2 jobs failed: mine on own, seed 1 \(WorkerDied\)"):
        results = run(Config({"mine": Dying(log=log, deaths=99)}, {"own": own}, seeds=2), tmp_path, backend="ray")
    assert [r["status"] for r in results] == ["finished", "failed"]
    assert lines(log).count("fit 1") == 2


def test_the_number_of_workers_is_the_one_asked_for_or_that_of_the_cluster(ray):
    assert [workers_of(backend, 5) for backend in ("serial", "processes", "ray")] == [1, 5, 2]
    assert workers_of("processes", None) == available_cores()


def test_without_ray_its_extra_is_named(own, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs Ray, .* pip install 'hideseek\[ray\]'"):
        run(Config({"mine": Fake()}, {"own": own}), tmp_path, backend="ray")
