"""The names of onnxruntime.capi.onnxruntime_inference_collection."""
from ..binding import IOBinding
from ..model_compiler import ModelCompiler
from ..session import InferenceSession, Session, check_and_normalize_provider_args
from ..values import OrtDevice, OrtDeviceVendorId, OrtValue, SparseTensor, copy_tensors
