"""Makes the two distributions' wheels of a build's package, without a network and without a compiler.

usage: python3 setup.py PART VERSION bdist_wheel ...     PART: relayvm or relayvm-compiler; in the folder of the package
CMake's target `wheels` calls it.
"""
import os
import sys

from setuptools import find_packages, setup
from setuptools.dist import Distribution

part, version = sys.argv[1:3]
del sys.argv[1:3]


class Native(Distribution):
    def has_ext_modules(self):
        return True


common = dict(version=version, license="Apache-2.0", python_requires=">=3.11", distclass=Native, zip_safe=False,
              include_package_data=False)
if part == "relayvm":
    setup(name=part, description="Runs compiled Relay programs and ONNX models", packages=["relayvm"],
          package_data={"relayvm": ["*.so*", "py.typed", "*.pyi"]}, install_requires=["numpy"], **common)
elif part == "relayvm-compiler":
    packages = find_packages(include=["relayvm.compiler*", "relayvm.onnx*", "relayvm.torch*", "relayvm.tvm*"])
    # Providers of engines, which files with regions run on.
    packages += ["relayvm.engines"] if os.path.isdir("relayvm/engines") else []
    setup(name=part, description="Compiles Relay programs and ONNX models for relayvm", packages=packages,
          package_data={"relayvm.compiler": ["*.so*", "*.pyi", "vmserve"], "relayvm.engines": ["*.so"], "relayvm.onnx": ["*.pyi"],
                        "relayvm.torch": ["*.pyi"]},
          entry_points={"torch_dynamo_backends": ["relayvm = relayvm.torch:backend"]}, install_requires=[f"relayvm=={version}"], **common)
else:
    sys.exit(__doc__)
