"""The manifests: the fields that KServe needs, ports and probes that agree with vmserve's arguments.

usage: check_manifest.py FOLDER [VMSERVE]      exits with 77 where PyYAML is not installed
"""
import os
import re
import subprocess
import sys

try:
    import yaml
except ModuleNotFoundError:
    print("skipped: needs python3-yaml")
    sys.exit(77)

# Of vmserve's command line, where there is none to ask.
OPTIONS = {"--models", "--host", "--http-port", "--grpc-port", "--metrics-port"}
# Where KServe expects each protocol, and the name of its port, by which Knative tells HTTP/2 from HTTP/1.
PORTS = {"v2": (8080, "http1"), "grpc-v2": (9000, "h2c")}


def options():
    if len(sys.argv) < 3:
        return OPTIONS
    text = subprocess.run([sys.argv[2], "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"--[a-z-]+", text))


def arguments(container):
    found = dict(arg.split("=", 1) for arg in container["args"])
    assert set(found) <= options(), f"vmserve has no {sorted(set(found) - options())}"
    return found


def check_probe(container, name, path, port):
    probe = container[name]
    assert probe["httpGet"] == {"path": path, "port": port}, f"{name}: {probe['httpGet']}"
    assert probe.get("periodSeconds", 10) >= 1 and probe.get("failureThreshold", 3) >= 1


def check_runtime(runtime):
    assert (runtime["apiVersion"], runtime["kind"]) == ("serving.kserve.io/v1alpha1", "ClusterServingRuntime")
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", runtime["metadata"]["name"])
    spec = runtime["spec"]
    formats = {f["name"]: f for f in spec["supportedModelFormats"]}
    assert all(isinstance(f["version"], str) for f in formats.values())
    assert formats["relayvm"]["autoSelect"] and not formats["onnx"]["autoSelect"]
    [container] = spec["containers"]
    assert container["name"] == "kserve-container"  # by which KServe finds it
    assert container["command"] == ["vmserve"]
    given = arguments(container)
    assert given["--models"] == "/mnt/models" and given["--host"] == "0.0.0.0"
    assert spec["protocolVersions"] == ["v2", "grpc-v2"]
    assert (given["--http-port"], given["--grpc-port"]) == tuple(str(PORTS[protocol][0]) for protocol in spec["protocolVersions"])
    assert spec["annotations"]["prometheus.kserve.io/port"] == given["--metrics-port"]
    assert spec["annotations"]["prometheus.kserve.io/path"] == "/metrics"
    [port] = container["ports"]
    assert (port["containerPort"], port["name"], port["protocol"]) == (*PORTS["v2"], "TCP")
    for name, path in (("startupProbe", "live"), ("livenessProbe", "live"), ("readinessProbe", "ready")):
        check_probe(container, name, f"/v2/health/{path}", int(given["--http-port"]))
    security = container["securityContext"]
    assert security["runAsNonRoot"] and security["readOnlyRootFilesystem"] and not security["privileged"]
    volumes = {v["name"] for v in spec["volumes"]}
    [cache] = [e["value"] for e in container["env"] if e["name"] == "RELAYVM_CACHE"]
    assert {m["mountPath"] for m in container["volumeMounts"] if m["name"] in volumes} == {cache}
    return runtime["metadata"]["name"], set(formats), spec["protocolVersions"]


def check_service(service, protocol, runtime, formats, protocols):
    assert (service["apiVersion"], service["kind"]) == ("serving.kserve.io/v1beta1", "InferenceService")
    model = service["spec"]["predictor"]["model"]
    assert model["runtime"] == runtime and model["modelFormat"]["name"] in formats
    assert model["protocolVersion"] == protocol and protocol in protocols and re.match(r"[a-z0-9]+://", model["storageUri"])
    # Without ports of its own it has the runtime's, which is HTTP/1.
    [port] = model.get("ports", [{"containerPort": PORTS["v2"][0], "name": PORTS["v2"][1], "protocol": "TCP"}])
    assert (port["containerPort"], port["name"], port["protocol"]) == (*PORTS[protocol], "TCP"), f"{protocol}: {port}"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(os.path.join(sys.argv[1], "runtime.yaml")) as file:
        known = check_runtime(yaml.safe_load(file))
    for name, protocol in (("example.yaml", "v2"), ("example_grpc.yaml", "grpc-v2")):
        with open(os.path.join(sys.argv[1], name)) as file:
            check_service(yaml.safe_load(file), protocol, *known)
    print("manifests agree with vmserve's arguments")


main()
