#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints CustomResourceDefinitions of the kinds whose schemas are in tests/schemas, as one JSON list for kubectl."""
import json
import os

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "schemas")
NAMES = ["mpijob-v2beta1", "tfjob-v1", "pytorchjob-v1", "jobset-v1alpha2"]


def structural(schema):
    """What an old API server knows: no rules in CEL."""
    if isinstance(schema, list):
        return [structural(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    return {k: structural(v) for k, v in schema.items() if k not in ("$schema", "$id", "title", "$comment", "x-kubernetes-validations")}


def definition(name):
    with open(os.path.join(SCHEMAS, name + ".json"), encoding="utf-8") as file:
        known = json.load(file)
    schema = known["openAPIV3Schema"]
    if "$defs" in schema:  # references are not for a server; tests/cli/manifests.py checks the fields of such a kind
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    else:
        schema = structural(schema)
        schema["properties"]["metadata"] = {"type": "object"}
        schema["properties"]["status"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    group, version, kind = known["group"], known["version"], known["kind"]
    plural = kind.lower() + "s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


items = [definition(name) for name in NAMES]
print(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
