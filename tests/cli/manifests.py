#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# manifests.py FILE...: checks Kubernetes manifests against the schemas in tests/schemas, which name their sources. A field
# that a schema does not know is an error, as with a server that validates strictly.
import json
import os
import sys

import jsonschema
import yaml

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "schemas")
CORE = ["kubernetes-1.25", "kubernetes-1.37"]  # a field must be in all of them
CLAIMS = ["kubernetes-1.37"]  # and those of claims in the newer ones: they are stable since 1.34
CORE_KINDS = {
    ("batch/v1", "Job"): "io.k8s.api.batch.v1.Job",
    ("v1", "Service"): "io.k8s.api.core.v1.Service",
}
CUSTOM = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): "jobset-v1alpha2",
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): "trainjob-v1alpha1",
    ("kubeflow.org/v2beta1", "MPIJob"): "mpijob-v2beta1",
    ("kubeflow.org/v1", "TFJob"): "tfjob-v1",
    ("kubeflow.org/v1", "PyTorchJob"): "pytorchjob-v1",
}
# Volcano's own, of which two members are used (volcano.sh/apis, pkg/apis/scheduling/v1beta1/types.go)
GROUP = {
    "type": "object",
    "additionalProperties": False,
    "required": ["minMember"],
    "properties": {
        "minMember": {"type": "integer"},
        "queue": {"type": "string"},
        "priorityClassName": {"type": "string"},
    },
}


def load(name):
    with open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def strict(schema):
    """Objects with known members have no others."""
    if isinstance(schema, list):
        return [strict(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: strict(v) for k, v in schema.items()}
    if isinstance(out.get("properties"), dict) and "x-kubernetes-preserve-unknown-fields" not in out:
        out.setdefault("additionalProperties", False)
    return out


def validate(document, schema, what):
    errors = sorted(jsonschema.Draft7Validator(schema).iter_errors(document), key=str)
    for error in errors:
        print(f"{what}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    return not errors


def core(document, name, what):
    ok = True
    for version in CLAIMS if "resourceClaimTemplateName" in json.dumps(document) else CORE:
        schema = dict(load(version))
        schema["$ref"] = "#/$defs/" + name
        ok &= validate(document, schema, f"{what}: {version}")
    return ok


def templates(value):
    """Every pod template and every Job's spec in a document, with the names of their schemas."""
    if isinstance(value, dict):
        if "containers" in value.get("template", {}).get("spec", {}):
            yield value["template"], "core.v1.PodTemplateSpec"
        if "completionMode" in value:
            yield value, "batch.v1.JobSpec"
        for member in value.values():
            yield from templates(member)
    elif isinstance(value, list):
        for item in value:
            yield from templates(item)


def check(document, what):
    kind = (document["apiVersion"], document["kind"])
    what = f"{what}: {kind[1]}"
    ok = all([core(part, "io.k8s.api." + name, what) for part, name in templates(document)])
    if kind in CORE_KINDS:
        return core(document, CORE_KINDS[kind], what) and ok
    if kind in CUSTOM:
        schema = load(CUSTOM[kind])
        body = strict(schema["openAPIV3Schema"])
        body["properties"]["metadata"] = {"type": "object"}
        return validate(document, body, what) and ok
    if kind == ("scheduling.volcano.sh/v1beta1", "PodGroup"):
        return validate(document["spec"], GROUP, what) and ok
    print(f"{what}: no schema is here for {kind[0]}")
    return False


good = True
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for found in yaml.safe_load_all(file):
            good &= check(found, path)
sys.exit(0 if good else 1)
