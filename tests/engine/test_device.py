import threading

import torch

from hideseek.engine.device import for_each_block

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
