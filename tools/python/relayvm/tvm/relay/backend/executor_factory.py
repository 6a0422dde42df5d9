"""tvm.relay.backend.executor_factory: what relay.build gives."""
from ..build_module import ExecutorFactory as ExecutorFactoryModule

AOTExecutorFactoryModule = GraphExecutorFactoryModule = ExecutorFactoryModule

__all__ = ["AOTExecutorFactoryModule", "ExecutorFactoryModule", "GraphExecutorFactoryModule"]
