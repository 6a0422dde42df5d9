"""What brings a program to each of Dask's workers, once; to those that come later, and come again, too."""
from distributed import WorkerPlugin

from . import shipping


class BringProgram(WorkerPlugin):
    """Keeps the bytes of a program in the worker's folder."""

    def __init__(self, content, data):
        self.content, self.data = content, data
        self.name = f"relayvm-{content}"

    def setup(self, worker):
        """When a worker starts, or is there already."""
        shipping.bring(self.content, self.data, worker.local_directory)
        self.data = None

    def teardown(self, worker):
        """When the plugin is taken away."""
        shipping.forget(self.content)
