import signal
import threading
import time

import pytest
from openmind_lmstudio.turns import Turns


def test_turns_are_given_in_the_order_of_arrival() -> None:
    turns, order = Turns(), []
    arrived = threading.Semaphore(0)

    def take(number: int) -> None:
        arrived.release()
        with turns.turn():
            order.append(number)

    with turns.turn():
        threads = []
        for number in range(8):
            thread = threading.Thread(target=take, args=(number,))
            thread.start()
            threads.append(thread)
            arrived.acquire()
            while len(turns._waiting) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()

    assert order == list(range(8))


def test_one_at_a_time() -> None:
    turns, inside, most = Turns(), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with turns.turn():
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == 1


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no thread can be interrupted on this system")
def test_whoever_is_interrupted_leaves_the_queue() -> None:
    turns, release = Turns(), threading.Event()

    def hold() -> None:
        with turns.turn():
            release.wait()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def interrupt_whoever_waits() -> None:
        while not turns._waiting:
            time.sleep(0.001)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    holder = threading.Thread(target=hold)
    holder.start()
    while not turns._taken:
        time.sleep(0.001)
    before = signal.signal(signal.SIGALRM, interrupt)
    other = threading.Thread(target=interrupt_whoever_waits, daemon=True)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), turns.turn():
            raise AssertionError("it was another's turn")
    finally:
        release.set()
        other.join()
        signal.signal(signal.SIGALRM, before)
    holder.join()

    with turns.turn():
        assert not turns._waiting


def test_a_failure_gives_the_turn_back() -> None:
    turns = Turns()

    for _ in range(2):
        try:
            with turns.turn():
                raise KeyError
        except KeyError:
            continue
