"""tvm.driver.tvmc.result_utils: times as text."""
import numpy


def times_text(times):
    """Milliseconds: mean, median, greatest, least, deviation."""
    if times is None:
        return ""
    return str(times)


def get_top_results(result, max_results):
    """The greatest of the first output: (their numbers, the values), in two rows."""
    values = numpy.asarray(next(iter(result.outputs.values()))).ravel()
    best = values.argsort()[::-1][:max_results]
    return numpy.array([best, values[best]])


__all__ = ["get_top_results", "times_text"]
