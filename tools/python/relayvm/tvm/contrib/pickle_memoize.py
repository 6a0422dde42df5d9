"""tvm.contrib.pickle_memoize: results of a function, kept while Python runs."""
import functools


class Cache:
    """Results by arguments, of one name."""

    cache_by_key = {}

    def __init__(self, key, save_at_exit=False):
        self.key, self.cache = key, {}
        self.cache_by_key[key] = self

    def save(self):
        """Files of results of earlier runs are not written: they would have to be told when they are out of date."""


def memoize(key, save_at_exit=False):
    """A decorator: a function is called once for the same arguments. key: names what is kept; save_at_exit is not read."""
    def decorate(function):
        cache = Cache.cache_by_key.get(key) or Cache(key, save_at_exit)

        @functools.wraps(function)
        def run(*args, **kwargs):
            known = repr((args, sorted(kwargs.items())))
            if known not in cache.cache:
                cache.cache[known] = function(*args, **kwargs)
            return cache.cache[known]
        return run
    return decorate


__all__ = ["Cache", "memoize"]
