import threading
import time

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


def test_a_failure_gives_the_turn_back() -> None:
    turns = Turns()

    for _ in range(2):
        try:
            with turns.turn():
                raise KeyError
        except KeyError:
            continue
