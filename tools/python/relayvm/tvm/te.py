"""Tensor expressions, which scripts import and few call: kernels are the compiler's own here."""


def __getattr__(name):
    raise AttributeError(f"te.{name} is not there: kernels are made by the compiler; operators of your own are plugins (relayc --plugin)")
