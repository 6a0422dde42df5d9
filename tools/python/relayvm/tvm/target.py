"""Targets: names of machines, as TVM writes them."""
import json
import platform
import shlex
from types import SimpleNamespace

from ..compiler.objects import Object, VirtualDevice
from ..compiler.passes.quantised import current_target, for_target
from .elsewhere import elsewhere
from .generic_func import GenericFunc, generic_func, get_native_generic_func, override_native_generic_func
from .ir.container import Array, Map
from .nd import Device, _NAMES, _NUMBERS
from .runtime.container import String

_KINDS = ("llvm", "c", "cuda", "rocm", "opencl", "vulkan", "metal", "hexagon", "webgpu", "nvptx", "ext_dev", "hybrid", "composite", "stackvm")
_KEYS = {"llvm": "cpu", "c": "cpu", "stackvm": "cpu", "hexagon": "hexagon cpu", "cuda": "cuda gpu", "metal": "metal gpu", "nvptx": "cuda gpu",
         "rocm": "rocm gpu", "webgpu": "webgpu gpu", "vulkan": "vulkan gpu", "opencl": "opencl gpu"}
_NO_OPTIONS = ("kind", "host", "keys", "tag")
_LISTS = ("cl-opt", "devices", "keys", "libs", "mattr")


class TargetKind(Object):
    """A kind of machine: "llvm" is the processor."""

    def __init__(self, name):
        self.name = name

    @property
    def default_keys(self):
        """Keys of its targets."""
        return _KEYS.get(self.name, "").split()

    @property
    def options(self):
        """Names of options, by TVM's types of them."""
        return {"mcpu": "runtime.String", "mattr": "Array", "mtriple": "runtime.String", "libs": "Array", "device": "runtime.String",
                "model": "runtime.String", "num-cores": "IntImm", "keys": "Array", "tag": "runtime.String", "host": "Target"}

    @staticmethod
    def options_from_name(kind_name):
        """The options of a kind."""
        return TargetKind(kind_name).options

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    __repr__ = __str__


class TargetFeatures:
    """target.features.NAME: whether the processor of a target has a feature."""

    def __init__(self, target):
        self._target = target

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return target_has_features(name.removeprefix("has_").replace("_", "-"), self._target)


def _text_of(config):
    words = [config.get("kind", "llvm")]
    for key, value in config.items():
        if isinstance(value, dict) and key != "host":
            raise ValueError(f"Target: {key} is a text, a number or a list, found a dict")
        if key not in ("kind", "host", "tag") and value not in (None, "", []):
            words.append(shlex.quote(f"-{key}={','.join(map(str, value)) if isinstance(value, (list, tuple)) else value}"))
    return " ".join(words)


def _value_of(text):
    return int(text) if text.isdigit() else text.lower() == "true" if text.lower() in ("true", "false") else text


def _options_of(text):
    """[(key, value)] of what stands behind the kind."""
    found, words = [], iter(shlex.split(text)[1:])
    for word in words:
        key, sign, value = word.lstrip("-").partition("=")
        found.append((key, value if sign else next(words, "")))
    return found


class Target(Object, str):
    """"llvm", "llvm -mcpu=skylake-avx512", or a target of relayvm's; a dict of its options. host is the same machine here."""

    def __new__(cls, target="llvm", host=None):
        if str(target).lstrip().startswith("{") and isinstance(target, str):
            target = json.loads(target)
        if isinstance(target, dict):
            host = host if host is not None else target.get("host")
            target = _text_of(target)
        elif host is None:
            host = getattr(target, "host", None)
        told = dict(_options_of(target)).get("host")
        if told is not None:
            host = told if host is None else host
            target = _text_of({"kind": target.split()[0], **{key: value for key, value in _options_of(target) if key != "host"}})
        made = super().__new__(cls, str(target).strip())
        if not made:
            raise ValueError("Target: expected a name such as \"llvm\", found an empty text")
        made.host = host if host is None or isinstance(host, Target) else Target(host)
        return made

    def __hash__(self):
        return str.__hash__(self)

    @property
    def kind(self):
        """Its first word, as `name` of it."""
        return TargetKind(self.split()[0])

    @property
    def attrs(self):
        """Its options, by name."""
        found = {key: value.split(",") if key in _LISTS else _value_of(value) for key, value in _options_of(self) if key not in _NO_OPTIONS}
        if "devices" in found:
            found["devices"] = [Target(one) for one in found["devices"]]
        return Map(found)

    def _option(self, name, default=None):
        return self.attrs.get(name, default)

    @property
    def keys(self):
        """Names of what it is like: "cpu"."""
        given = [value.split(",") for key, value in _options_of(self) if key == "keys"]
        found = [*(given[0] if given else self.kind.default_keys), *([self._option("device")] if self._option("device") else [])]
        return list(dict.fromkeys(found))

    tag = ""

    mcpu = property(lambda self: self._option("mcpu", ""), doc="The processor, \"\" for this one.")
    mattr = property(lambda self: self._option("mattr", []), doc="Features: \"+avx2\".")
    libs = property(lambda self: self._option("libs", []), doc="Libraries: kernels are the compiler's own here.")
    model = property(lambda self: str(self._option("model", "unknown")), doc="The machine's name.")
    arch = property(lambda self: self._option("arch", ""), doc="Of graphics cards.")
    device_name = property(lambda self: self._option("device", ""), doc="The option device.")
    max_num_threads = property(lambda self: int(self._option("max_num_threads", 0)), doc="Of graphics cards.")
    max_block_size_x = property(lambda self: int(self._option("max_block_size_x", self.max_num_threads)), doc="Of graphics cards.")
    max_block_size_y = property(lambda self: int(self._option("max_block_size_y", self.max_num_threads)), doc="Of graphics cards.")
    thread_warp_size = property(lambda self: int(self._option("thread_warp_size", 1)), doc="Of graphics cards.")
    max_shared_memory_per_block = property(lambda self: int(self._option("max_shared_memory_per_block", 0)), doc="Of graphics cards.")
    vtcm_capacity = property(lambda self: int(self._option("vtcm-capacity", 0)), doc="Of Hexagon.")
    l2_cache_size_bytes = property(lambda self: int(self._option("l2_cache_size_bytes", 0)), doc="Of graphics cards.")
    supports_integer_dot_product = property(lambda self: bool(self._option("supports_integer_dot_product", 0)), doc="Of graphics cards.")
    supports_cooperative_matrix = property(lambda self: bool(self._option("supports_cooperative_matrix", 0)), doc="Of graphics cards.")
    vlen = property(lambda self: int(self._option("vlen", 0)), doc="Of RISC-V.")
    rlen = property(lambda self: int(self._option("rlen", 0)), doc="Of RISC-V.")
    features = property(TargetFeatures, doc="Whether the processor has a feature: features.has_avx2.")

    @property
    def max_function_args(self):
        """The most arguments that a kernel has; 0: any number."""
        return 0

    def export(self):
        """It as a dict, which Target takes."""
        more = {"host": self.host.export()} if self.host is not None else {}
        return Map({"kind": self.kind.name, "tag": self.tag, "keys": self.keys, **self.attrs, **more})

    def with_host(self, host=None):
        """It with a host."""
        return Target(str(self), host)

    def get_kind_attr(self, attr_name):
        """What is known of its kind: nothing."""
        return None

    def get_target_device_type(self):
        """The number of its devices' kind."""
        return _NUMBERS.get(self.kind.name, 1)

    @staticmethod
    def list_kinds():
        """Names of kinds; programs run on "llvm"."""
        return list(_KINDS)

    @staticmethod
    def from_device(device):
        """The target of a device."""
        kind = device if isinstance(device, str) else _NAMES[device.device_type]
        return Target("llvm" if kind.startswith("cpu") else kind)

    @staticmethod
    def canon_target(target):
        """A `Target` of a text, a dict or a `Target`; None stays."""
        return target if target is None or isinstance(target, Target) else Target(target)

    @staticmethod
    def canon_target_and_host(target, target_host=None):
        """(target with the host, host)"""
        host = Target.canon_target(target_host)
        if target is None:
            if host is not None:
                raise AssertionError("Target host is not empty when target is empty.")
            return None, None
        target = Target.canon_target(target)
        target = target.with_host(host) if host is not None else target
        return target, target.host

    @staticmethod
    def canon_multi_target(multi_targets):
        """A list of `Target`s of one, of several, or of a dict by device."""
        if multi_targets is None:
            return None
        if isinstance(multi_targets, dict) and "kind" not in multi_targets:
            multi_targets = list(multi_targets.values())
        return Array(map(Target.canon_target, multi_targets if isinstance(multi_targets, (list, tuple)) else [multi_targets]))

    @staticmethod
    def canon_multi_target_and_host(target, target_host=None):
        """The same, each with the host."""
        if target is None:
            raise AssertionError("canon_multi_target_and_host: there is no target")
        host = Target.canon_target(target_host)
        return Array(t if host is None else t.with_host(host) for t in Target.canon_multi_target(target))

    @staticmethod
    def canon_target_map_and_host(target_map, target_host=None):
        """({target: what is for it}, host)"""
        host = Target.canon_target(target_host)
        return {Target.canon_target_and_host(target, host)[0]: value for target, value in target_map.items()}, host

    @staticmethod
    def target_or_current(target):
        """The target, or that of the innermost `with`."""
        found = Target.canon_target(target) if target is not None else Target.current()
        if found is None:
            raise ValueError("Target is not set in env or passed as argument.")
        return found

    def __enter__(self):
        self._entered = [*getattr(self, "_entered", ()), for_target(self)]
        self._entered[-1].__enter__()
        return self

    def __exit__(self, *_):
        self._entered.pop().__exit__(None, None, None)

    @staticmethod
    def current(allow_none=True):
        """The target of the innermost `with`, or None."""
        if current_target() is None and not allow_none:
            raise ValueError("Target.current: there is no `with` of a target")
        return current_target()


def make_compilation_config(ctxt, target, target_host=None):
    """What is built for: primitive_targets and host_target."""
    targets = Target.canon_multi_target_and_host(target, target_host)
    return SimpleNamespace(primitive_targets=targets, host_target=Target.canon_target(target_host) or targets[0])


def create(target):
    """`Target(target)`, an older name."""
    return Target(target)


def list_tags():
    """Names of machines that stand for targets: none."""
    return {}


def register_tag(name, config, override=False):
    """Refused: targets are written out."""
    raise NotImplementedError(f"register_tag({name!r}): write the target: Target({_text_of(config)!r})")


def _of_kind(kind, model=None):
    def make(model=model, options=None, **more):
        words = options.split() if isinstance(options, str) else list(options or ())
        words += [f"-{key.replace('_', '-')}={value}" for key, value in more.items() if value is not None]
        return Target(" ".join([kind, *([f"-model={model}"] if model else []), *words]))
    make.__doc__ = f"A target \"{kind}\", which programs are not built for: there is the processor (\"llvm\")."
    return make


adreno, mali, bifrost, intel_graphics = (_of_kind(f"opencl -device={name}", "unknown") for name in ("adreno", "mali", "bifrost", "intel_graphics"))
arm_cpu = _of_kind("llvm -keys=arm_cpu,cpu -device=arm_cpu", "unknown")
riscv_cpu = _of_kind("llvm -keys=riscv_cpu,cpu -device=riscv_cpu", "sifive-u54")
rocm, vta, micro, stm32 = (_of_kind(kind, "unknown") for kind in ("rocm", "ext_dev -device=vta", "c", "c"))


def cuda(model="unknown", arch=None, options=None):
    """A target "cuda", which programs are not built for: there is the processor ("llvm")."""
    return _of_kind("cuda", model)(model, options, arch=arch)


def rasp(options=None):
    """A Raspberry Pi, an older name."""
    return arm_cpu("rasp3b", options)


def hexagon(cpu_ver="v68", **kwargs):
    """A target "hexagon", which programs are not built for: there is the processor ("llvm")."""
    return Target(f"hexagon -mcpu=hexagon{cpu_ver}")


# --- What the processor has ---

_FLAGS = {"avx512f": "avx512f", "avx512bw": "avx512bw", "avx512vnni": "avx512_vnni", "avx2": "avx2", "avx": "avx", "fma": "fma", "sse4.1": "sse4_1",
          "sse4.2": "sse4_2", "ssse3": "ssse3", "sse2": "sse2", "amx-int8": "amx_int8", "amx-tile": "amx_tile", "amx-bf16": "amx_bf16"}
_OF_CPU = {"core-avx2": 3, "haswell": 3, "broadwell": 3, "skylake": 3, "znver1": 3, "znver2": 3, "znver3": 3, "alderlake": 3, "x86-64-v3": 3,
           "skylake-avx512": 4, "cascadelake": 5, "icelake-server": 5, "cooperlake": 5, "znver4": 5, "x86-64-v4": 4, "sapphirerapids": 6}
_LEVELS = {2: ["sse2", "ssse3", "sse4.1", "sse4.2"], 3: ["avx", "avx2", "fma"], 4: ["avx512f", "avx512bw"], 5: ["avx512vnni"],
           6: ["amx-int8", "amx-tile", "amx-bf16"]}


def llvm_get_cpu_features(target=None):
    """Features of a target's processor that TVM's scripts ask for, of this one without a target."""
    target = Target.canon_target(target) if target is not None else Target.current()
    cpu = target.mcpu if target is not None else ""
    if cpu in _OF_CPU:
        found = [name for level in range(2, _OF_CPU[cpu] + 1) for name in _LEVELS[level]]
    elif cpu:
        found = _LEVELS[2]
    else:
        try:
            with open("/proc/cpuinfo") as file:
                flags = next((line for line in file if line.startswith("flags")), "").split()
        except OSError:
            flags = []
        found = [name for name, flag in _FLAGS.items() if flag in flags]
    return [*found, *(a[1:] for a in (target.mattr if target is not None else ()) if a.startswith("+"))]


def target_has_features(cpu_features, target=None):
    """Whether a target's processor has a feature, or all of a list."""
    wanted = [cpu_features] if isinstance(cpu_features, str) else list(cpu_features)
    return set(wanted) <= set(llvm_get_cpu_features(target))


def get_simd_32bit_lanes():
    """float32s in a vector of the current target's processor."""
    return 16 if target_has_features("avx512f") else 8 if target_has_features("avx2") else 4


def detect_target_from_device(dev):
    """The target of a device."""
    return Target.from_device(dev)


SUPPORT_DEVICE = {"cpu"}

codegen = SimpleNamespace(
    llvm_version_major=lambda allow_none=False: 19,  # which the compiler is built with
    llvm_get_cpu_features=llvm_get_cpu_features, llvm_cpu_has_features=target_has_features, target_has_features=target_has_features,
    llvm_get_system_cpu=platform.processor, llvm_get_system_triple=lambda: f"{platform.machine()}-pc-linux-gnu",
    llvm_get_system_x86_vendor=lambda: "", llvm_get_targets=lambda: ["x86-64"], llvm_get_cpu_archlist=lambda target=None: sorted(_OF_CPU),
    **{name: elsewhere(f"target.codegen.{name}", "relay.build builds programs") for name in
       ("build_module", "llvm_lookup_intrinsic_id", "llvm_get_intrinsic_name")})


def __getattr__(name):
    if name in ("MICRO_SUPPORTED_MODELS", "STM32_SUPPORTED_SERIES"):
        return elsewhere(f"target.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Device", "GenericFunc", "String", "Target", "TargetFeatures", "TargetKind", "VirtualDevice", "adreno", "arm_cpu", "bifrost",
           "codegen", "create", "cuda", "detect_target_from_device", "generic_func", "get_native_generic_func", "get_simd_32bit_lanes", "hexagon",
           "intel_graphics", "list_tags", "llvm_get_cpu_features", "make_compilation_config", "mali", "micro", "override_native_generic_func",
           "rasp", "register_tag", "riscv_cpu", "rocm", "stm32", "target_has_features", "vta"]
