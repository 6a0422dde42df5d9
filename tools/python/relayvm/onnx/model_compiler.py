"""ModelCompiler: a model to a .vmx file."""
import os

from .errors import InvalidArgument
from .options import SessionOptions
from .programs import Programs


class ModelCompiler:
    """Compiles a model (a path or bytes) to a .vmx file, which InferenceSession loads without compiling."""

    def __init__(self, sess_options, input_model_path_or_bytes, embed_compiled_data_into_model=False, external_initializers_file_path=None,
                 external_initializers_size_threshold=1024, flags=0, graph_optimization_level=None, get_initializer_location_func=None):
        options = sess_options if sess_options is not None else SessionOptions()
        if graph_optimization_level is not None:
            options = options._copy()
            options.graph_optimization_level = graph_optimization_level
        if external_initializers_file_path or get_initializer_location_func:
            raise InvalidArgument("ModelCompiler: weights are in the .vmx file; leave external_initializers_file_path and "
                                  "get_initializer_location_func out")
        self._programs = Programs(input_model_path_or_bytes, options, None, [])
        self._path = self._programs._source.path

    def _no_contexts(self, *_, **__):
        """There are no files of execution providers here."""
        raise NotImplementedError("ModelCompiler: what is compiled is one .vmx file: compile_to_file(path), compile_to_bytes()")

    set_ep_context_binary_information = set_ep_context_data_write_func = _no_contexts

    def clear_ep_context_data_write_func(self):
        """Nothing: there is no such function."""

    def compile_to_file(self, output_model_path=None):
        """Writes the .vmx file; without a path beside the model, by its name."""
        path = output_model_path or (os.path.splitext(self._path)[0] + ".vmx" if self._path else None)
        if path is None:
            raise InvalidArgument("compile_to_file: expected a path, for a model of bytes")
        self._programs.save(os.fspath(path))

    def compile_to_bytes(self):
        """The .vmx file's bytes."""
        return self._programs.checked_executable().to_bytes()

    def compile_to_stream(self, write_function):
        """Gives the .vmx file's bytes to write_function."""
        write_function(self.compile_to_bytes())
