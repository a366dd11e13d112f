"""Code that travels by value keeps the file it was written in, in what is defined inside of it too."""

import pickle

import vistorch.distributed as dist
from vistorch._code_pickle import dumps


def local():
    class Local:
        def method(self):
            return lambda: 1

    return Local


def files(made):
    method = made().method
    return {method.__code__.co_filename, method().__code__.co_filename}


def test_a_class_of_a_function():
    made = pickle.loads(dumps(local()))
    assert files(made) == {__file__} and made().method()() == 1


def test_objects_between_ranks():
    dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
    try:
        found = [None]
        dist.all_gather_object(found, lambda: 2)
    finally:
        dist.destroy_process_group()
    assert found[0]() == 2 and found[0].__code__.co_filename == __file__
