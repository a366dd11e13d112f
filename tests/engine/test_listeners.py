"""Listeners: several, in any order, that raise, in threads, and where each of them stands."""

import heapq
import re
import sys
import threading
from pathlib import Path

import pytest

import vistorch as L
from vistorch.debug import line_of
from vistorch.engine.base.events import KINDS, Listener, listeners, where


@pytest.fixture(autouse=True)
def nobody_listens():
    assert all(getattr(listeners, kind) is None for kind in KINDS)
    yield
    assert all(getattr(listeners, kind) is None for kind in KINDS)


class Recorder(Listener):
    """Gets all there is."""

    def ignore(self, *args_seen):
        pass

    op = cut = write = backward = saved = phase = ignore


def named(name, into):
    class Named(Listener):
        def op(self, rule, ins, consts, outs):
            into.append(name)

    return Named()


def test_several_listeners_come_in_order_and_leave_in_any():
    into = []
    a, b, c = (named(name, into) for name in "abc")
    x = L.ones(2)
    for one in (a, b, c):
        one.__enter__()
    x + x
    assert into == ["a", "b", "c"]
    into.clear()
    a.__exit__()
    x + x
    assert into == ["b", "c"]
    c.__exit__()
    into.clear()
    x + x
    assert into == ["b"]
    with b:
        into.clear()
        x + x
        assert into == ["b", "b"]
    b.__exit__()
    into.clear()
    x + x
    assert into == []


def test_equal_listeners_are_not_taken_for_each_other():
    class Equal(Listener):
        __hash__ = None

        def __init__(self):
            self.count = 0

        def __eq__(self, other):
            return True

        def op(self, *args_seen):
            self.count += 1

    a, b = Equal(), Equal()
    a.__enter__()
    b.__enter__()
    L.ones(2) + 1
    a.__exit__()
    L.ones(2) + 1
    b.__exit__()
    assert a.count == 1 and b.count == 2


def test_a_listener_that_raises_reaches_the_line_after_all_were_called():
    into = []

    class Raises(Listener):
        def op(self, rule, ins, consts, outs):
            raise ZeroDivisionError(rule.name)

    x = L.ones(2, requires_grad=True)
    y = x * 1.0
    for several in ([Raises()], [Raises(), named("after", into)], [named("before", into), Raises()]):
        with pytest.raises(ZeroDivisionError, match="exp"):
            for one in several:
                one.__enter__()
            try:
                x.exp()
            finally:
                for one in several:
                    one.__exit__()
    assert into == ["after", "before"]
    y.sum().backward()  # what was there before is as it was
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_thread_emits_in_its_own_thread():
    threads = []

    class Where(Listener):
        def op(self, *args_seen):
            threads.append(threading.get_ident())

    def work():
        L.ones(2) + 1

    with Where():
        other = threading.Thread(target=work)
        other.start()
        other.join()
        assert len(threads) == 1 and threads[0] != threading.get_ident()


def test_listening_may_end_while_others_work():
    failures, stop = [], threading.Event()

    def work():
        x = L.ones(2, requires_grad=True)
        try:
            while not stop.is_set():
                y = (x * 2).exp() + x.detach()
                y.mul_(2)
                y.sum().backward()
        except BaseException as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    workers = [threading.Thread(target=work) for _ in range(3)]
    try:
        for one in workers:
            one.start()
        for _ in range(300):
            with Recorder():
                pass
    finally:
        stop.set()
        for one in workers:
            one.join()
        sys.setswitchinterval(interval)
    assert not failures, failures[0]


def test_an_emitter_reads_its_slot_once():
    # between a test and a second reading another thread may stop to listen
    for path in Path(L.__file__).parent.rglob("*.py"):
        assert not re.search(r"\bhear\.\w+\(", path.read_text(encoding="utf-8")), path


class Places(Listener):
    """Writes down where each op was called."""

    def __init__(self):
        self.places = []

    def op(self, *args_seen):
        self.places.append(line_of(where()))


def test_where_is_the_place_above_the_emitter():
    def mine(x):
        return x

    def inner(x):
        return x.exp()

    x = L.ones(2)
    with Places() as received:
        mine(x + x)
        sum([x, x, x], x)
        inner(x)
    assert where() is None  # outside of an event
    assert [p.text for p in received.places] == ["mine(x + x)", *["sum([x, x, x], x)"] * 3, "return x.exp()"]
    assert [p.function for p in received.places[-2:]] == [
        "test_where_is_the_place_above_the_emitter",
        "inner",
    ]


def test_python_s_own_library_is_passed_over():
    """What a person wrote is meant, and a thread that runs vistorch alone begins in no line of anybody's."""
    x = L.ones(2)
    with Places() as received:
        heapq.nsmallest(1, [x[0], x[1]])
        worker = threading.Thread(target=L.exp, args=(x,))
        worker.start()
        worker.join()
    assert received.places[-2].text == "heapq.nsmallest(1, [x[0], x[1]])" and received.places[-1] is None
