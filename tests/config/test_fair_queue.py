"""The order in which requests get a thread."""

import threading
import time

import pytest

from config.fair_queue import RECENT_SECONDS, FairQueue, Streams
from config.turns import SLICE_SECONDS, Turn


class Work:
    """Jobs that hold their thread until they are let go; `began` tells in which order they got one."""

    def __init__(self, **sizes):
        self.began = []
        self.changed = threading.Condition()
        self.doors = {}
        self.queue = FairQueue(self._hold, **sizes)
        self.queue.start()

    def _hold(self, key, job):
        with self.changed:
            self.began.append(job)
            self.changed.notify_all()
        assert self.doors[job].wait(20)

    def put(self, key, *jobs):
        for job in jobs:
            self.doors[job] = threading.Event()
            self.queue.put(key, job)

    def let_go(self, *jobs):
        for job in jobs:
            self.doors[job].set()

    def until_free(self):
        """Wait until no job holds a thread."""
        self.until_only()

    def until_only(self, *keys):
        """Wait until these keys and no others hold threads."""
        end = time.monotonic() + 10
        while set(self.queue._held) != set(keys) and time.monotonic() < end:
            time.sleep(0.01)

    def have_begun(self, number):
        """Wait until so many jobs have begun, and a moment longer for one too many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.began) >= number, 10), self.began
        time.sleep(0.05)
        return self.began


@pytest.fixture
def work():
    made = Work(threads=6, share=2, spare=2)
    yield made
    made.let_go(*made.doors)


def test_who_is_alone_has_every_thread(work):
    work.put("a", *range(8))
    assert sorted(work.have_begun(6)) == [0, 1, 2, 3, 4, 5]


def test_newcomer_waits_for_nobody(work):
    work.put("a", *range(20))
    work.have_begun(6)
    work.put("b", "b1", "b2")
    assert work.have_begun(7)[6:] == ["b1"], "a spare thread serves who holds none, and only once"
    work.put("c", "c1")
    assert work.have_begun(8)[7:] == ["c1"]


def test_nobody_holds_more_than_his_share_while_others_want_threads(work):
    work.put("a", *range(20))
    work.put("b", "b1")
    work.have_begun(7)
    work.let_go(0, 1, 2, 3)
    assert len(work.have_begun(7)) == 7, "of six threads a holds two now, and gets no third"
    work.let_go(4, 5)
    assert sorted(work.have_begun(9)[7:]) == [6, 7]


def test_share_lasts_a_moment_longer_than_the_need(work):
    work.put("b", "b1")
    work.have_begun(1)
    work.let_go("b1")
    work.put("a", *range(8))
    assert sorted(work.have_begun(3)[1:]) == [0, 1]
    time.sleep(RECENT_SECONDS)
    work.let_go(0)
    assert len(work.have_begun(8)) == 8


def heavy(work, key):
    """Let a key hold a thread for so long that it is heavy; its job goes on."""
    begun = len(work.began)
    work.put(key, f"{key} long")
    work.have_begun(begun + 1)
    time.sleep(RECENT_SECONDS)


def test_who_is_heavy_holds_one_thread_while_others_want_some(work):
    heavy(work, "a")
    work.put("b", "b1")
    work.have_begun(2)
    work.put("a", *range(8))
    work.put("b", "b2")
    assert work.have_begun(3)[2:] == ["b2"], "a holds one, by a job that goes on"
    work.let_go("a long")
    assert work.have_begun(4)[3:] == [0]


def test_who_was_heavy_is_light_again_after_a_while(work):
    heavy(work, "a")
    work.let_go("a long")
    work.until_free()
    time.sleep(RECENT_SECONDS)
    work.put("b", "b1")
    work.have_begun(2)
    work.put("a", *range(8))
    assert sorted(work.have_begun(4)[2:]) == [0, 1]


def never():
    return False


def held_up(work, turn, seconds, *, waits=True):
    """Return for how long a job was held up: by others for so many seconds at most, and by its turn for as many."""
    began = time.monotonic()
    yielded, waited = work.queue.give_way(turn, seconds, lambda: time.monotonic() > began + seconds, waits)
    assert yielded <= waited == pytest.approx(time.monotonic() - began, abs=0.05)
    return waited


def test_job_waits_for_light_ones_of_others_and_no_longer(work):
    work.put("a", "a1")
    work.have_begun(1)
    assert held_up(work, Turn("a"), 5) < 0.1, "nobody else is there"
    work.put("b", "b1")
    work.have_begun(2)
    threading.Timer(0.3, work.let_go, ["b1"]).start()
    assert 0.2 < held_up(work, Turn("a"), 5) < 2, "until the other's job ends"


def test_job_waits_for_so_long_at_most(work):
    work.put("b", "b1")
    work.have_begun(1)
    assert 0.1 < held_up(work, Turn("a"), 0.15) < 1


def test_two_jobs_never_wait_for_each_other(work):
    work.put("a", "a1")
    work.put("b", "b1")
    work.have_begun(2)
    first = threading.Thread(target=work.queue.give_way, args=(Turn("a"), 1.0, never, True))
    first.start()
    time.sleep(0.1)
    assert held_up(work, Turn("b"), 5) < 0.1, "the other works no more"
    work.let_go("b1")
    first.join()


def test_jobs_do_not_wait_for_heavy_ones_of_others(work):
    heavy(work, "b")
    assert held_up(work, Turn("a"), 5) < 0.1


@pytest.fixture
def turn():
    """Make turns, and give them back."""
    made = []

    def make(key):
        made.append(Turn(key))
        return made[-1]

    yield make
    for one in made:
        one.leave()


def test_jobs_of_a_heavy_key_work_one_at_a_time_while_others_are_there(work, turn):
    heavy(work, "a")
    first, second = turn("a"), turn("a")
    assert held_up(work, first, 5) < 0.1, "it is alone"
    assert held_up(work, second, 5) < 0.1
    work.put("b", "b1")
    work.let_go("b1")
    work.have_begun(2)
    assert held_up(work, first, 5) < 0.1
    assert held_up(work, second, 0.05) >= 0.05, "the first has the turn"
    time.sleep(SLICE_SECONDS)
    other = threading.Thread(target=work.queue.give_way, args=(second, 0.5, never, True))
    other.start()
    time.sleep(0.02)
    assert held_up(work, first, 0.2) >= 0.2, "the second has it"
    other.join()


def test_who_must_not_wait_works_without_the_turn_and_gives_it_back(work, turn):
    """Who holds locks; nobody who waits for them with the turn waits for long."""
    heavy(work, "a")
    work.put("b", "b1")
    work.let_go("b1")
    work.have_begun(2)
    work.until_only("a")
    first, second = turn("a"), turn("a")
    assert held_up(work, first, 5) < 0.1
    assert held_up(work, second, 5, waits=False) < 0.1
    assert held_up(work, second, 0.05) >= 0.05, "it took no turn"
    time.sleep(SLICE_SECONDS)
    assert held_up(work, first, 5, waits=False) < 0.1
    assert held_up(work, second, 5) < 0.1, "the first has given it back"


def test_heavy_keys_have_turns_of_their_own(work, turn):
    heavy(work, "a")
    heavy(work, "b")
    work.put("c", "c1")
    work.have_begun(3)
    work.let_go("c1")
    work.until_only("a", "b")
    assert held_up(work, turn("a"), 5) < 0.1
    assert held_up(work, turn("b"), 5) < 0.1
    assert held_up(work, turn("a"), 0.1) >= 0.1


def test_among_heavy_keys_there_are_no_turns(work, turn):
    heavy(work, "a")
    heavy(work, "b")
    assert turn("a").take()
    assert held_up(work, turn("a"), 5) < 0.1
    work.put("a", *range(8))
    assert work.have_begun(3)[2:] == [0], "each has its share"


def test_light_keys_need_no_turn(work, turn):
    assert turn("a").take()
    work.put("a", "a1")
    work.have_begun(1)
    work.put("b", "b1")
    work.let_go("b1")
    work.have_begun(2)
    work.until_only("a")
    assert held_up(work, turn("a"), 5) < 0.1


def test_tenants_are_served_in_turn():
    work = Work(threads=1, share=1, spare=0)
    work.put("a", "first", "a1", "a2")
    work.have_begun(1)
    work.put("b", "b1", "b2")
    work.put("c", "c1")
    for number, job in enumerate(("first", "a1", "b1", "c1", "a2", "b2"), start=1):
        assert work.have_begun(number)[-1] == job
        work.let_go(job)


def test_every_job_is_done_once_under_many_keys():
    done, lock = [], threading.Lock()

    def note(key, job):
        with lock:
            done.append((key, job))

    queue = FairQueue(note, threads=4, share=1, spare=2)
    queue.start()

    def send(key):
        for job in range(300):
            queue.put(key, job)

    senders = [threading.Thread(target=send, args=(f"k{number}",)) for number in range(8)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    until = time.monotonic() + 20
    while len(done) < 2_400 and time.monotonic() < until:
        time.sleep(0.01)
    assert sorted(done) == sorted((f"k{number}", job) for number in range(8) for job in range(300))
    assert not queue.waiting()


def test_slow_readers_of_one_tenant_leave_streams_to_others():
    streams = Streams(most=3, share=2)
    assert streams.acquire("a", timeout=0.01)
    assert streams.acquire("a", timeout=0.01)
    assert not streams.acquire("a", timeout=0.01)
    assert streams.acquire("b", timeout=0.01)
    assert not streams.acquire("c", timeout=0.01)
    streams.release("a")
    assert streams.acquire("c", timeout=0.01)
