import threading

import pytest
import torch

from hideseek.engine.device import for_each_block, for_each_question, for_each_table

CPU = torch.device("cpu")


def test_a_single_block_runs_in_the_calling_thread():
    threads = []
    for_each_block(lambda rows: threads.append((rows, threading.current_thread())), iter([slice(0, 3)]), CPU)
    assert threads == [(slice(0, 3), threading.current_thread())]


def test_several_blocks_all_run_elsewhere():
    threads = []
    for_each_block(
        lambda rows: threads.append((rows.start, threading.current_thread())), [slice(0, 3), slice(3, 5)], CPU
    )
    assert sorted(start for start, _ in threads) == [0, 3]
    assert threading.current_thread() not in [thread for _, thread in threads]


def test_tables_are_worked_on_in_order_and_on_threads_beside_a_gpu_alone():
    def work(table):
        return table, threading.current_thread() is threading.main_thread()

    assert for_each_table(work, range(20), CPU) == [(table, True) for table in range(20)]
    assert for_each_table(work, range(20), torch.device("cuda")) == [(table, False) for table in range(20)]
    assert for_each_table(work, [7], torch.device("cuda")) == [(7, True)]


@pytest.mark.parametrize(("n_threads", "device", "is_alone"), [(2, "cpu", False), (1, "cpu", True), (2, "cuda", True)])
def test_questions_are_answered_in_order_and_on_the_threads_of_torch(n_threads, device, is_alone):
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)

    def answer(question):
        assert torch.get_num_threads() == 1
        return question, threading.current_thread() is threading.main_thread()

    found = for_each_question(answer, range(20), torch.device(device))
    assert torch.get_num_threads() == n_threads
    torch.set_num_threads(before)
    assert found == [(question, is_alone) for question in range(20)]
