"""A model that onnx.backend's interface has prepared."""
from ..options import RunOptions


class OnnxRuntimeBackendRep:
    """run(inputs) gives the outputs of a session."""

    def __init__(self, session):
        self._session = session

    def run(self, inputs, **kwargs):
        """A list of all outputs. inputs: a list in the inputs' order, or one input. kwargs: options of `RunOptions`."""
        options = None
        if kwargs:
            options = RunOptions()
            for name, value in kwargs.items():
                setattr(options, name, value)
        names = [one.name for one in self._session.get_inputs()]
        feed = dict(zip(names, inputs)) if isinstance(inputs, list) else {names[0]: inputs}
        return self._session.run(None, feed, options)
