#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checkers' own test: facts that they must know, and damage that they must see."""
import copy
import random
import tempfile
import unittest

import facts
import rules
import small
from brute import Brute, better_stack, lowest_level
from catalog import Catalog, Row
from checker import check, stack_of
from harness import REAL
from versions import KEY, cell_admits, clause_admits, compare, request_admits

CHOICES = (
    ("torch", "1.10.2", "cu113"),
    ("cuda", "11.3.1", ""),
    ("cudnn", "8.2.0.53", "libcudnn8=8.2.0.53-1+cuda11.3"),
    ("nccl", "2.9.9-1", "libnccl2=2.9.9-1+cuda11.3"),
    ("os", "ubuntu20.04", ""),
    ("glibc", "2.31", ""),
    ("gcc", "9.4.0", ""),
    ("python", "3.8", ""),
    ("openmpi", "4.1.8", ""),
)
REQUESTS = ["torch", "driver==470.57.02", "gpu==Tesla V100 SXM2"]


def choice(catalog, name, version, text):
    for row in catalog.rows(name):
        package = row.cell("run_packages") or row.cell("pip")
        fits = row["version"] == version and row["os"] in ("", "ubuntu20.04")
        if fits and text in package + row.cell("index"):
            cells = {"pip": "pip", "index": "index", "download": "download", "sha256": "sha256"}
            found = {key: row.cell(column) for key, column in cells.items()}
            found.update(version=version, package=package)
            return dict(found, build_package=row["build_packages"], source=row["source"])
    raise KeyError(name)


def document(catalog):
    stack = {name: choice(catalog, name, version, text) for name, version, text in CHOICES}
    stack["driver"] = {"version": "470.57.02", "source": "spack-cuda"}
    stack["gpu"] = {"version": "Tesla V100 SXM2", "source": "spack-cuda"}
    tag = "docker.io/nvidia/cuda:11.3.1-cudnn8-devel-ubuntu20.04"
    status = rules_status(catalog, tag)
    base = {"name": tag, "status": status, "source": "nvidia-container-images"}
    return {"accelerator": "cuda", "stack": stack, "base": base}


def rules_status(catalog, tag):
    return next(r["status"] for r in catalog.rows("image") if tag.endswith(":" + r["version"]))


class Versions(unittest.TestCase):
    def test_order(self):
        pairs = (("1.9", "1.10"), ("1.5.1", "1.5.1.post0"), ("4.1.0rc2", "4.1.0"))
        for low, high in pairs + (("418.87", "418.87.01"),):
            self.assertEqual(compare(low, high), -1, (low, high))
        self.assertEqual(compare("12.1", "12.1.0"), 0)

    def test_clauses(self):
        self.assertTrue(clause_admits("~=1.4", "1.9") and not clause_admits("~=1.4", "2.0"))
        self.assertTrue(clause_admits("==2.5.6", "2.5.6-1", series=True))
        self.assertFalse(clause_admits("==12.1", "12.10.1", series=True))
        self.assertTrue(cell_admits("==2.7.*|>=3.3;<3.7", "3.6") and not cell_admits(">=3.3;<3.7", "3.7"))

    def test_pip_is_exact_where_it_can_be(self):
        self.assertFalse(request_admits(["==2.1"], "2.1.1", {"2.1.0", "2.1.1"}, True))
        self.assertTrue(request_admits(["==2.1"], "2.1.1", {"2.1.1"}, True))


class Rules(unittest.TestCase):
    def setUp(self):
        self.catalog = Catalog(REAL)

    def cuda(self, version):
        return next(row for row in self.catalog.rows("cuda") if row["version"] == version)

    def gpu(self, name):
        return next(row for row in self.catalog.rows("gpu") if row["version"] == name)

    def test_drivers(self):
        v100, geforce = [self.gpu("Tesla V100 SXM2")], [self.gpu("RTX 3090")]
        ways = (
            ("450.80.02", "11.8.0", "minor", []),
            ("470", "11.4.4", "exact", []),
            ("418.39", "10.2.89", "compat", v100),
        )
        for driver, cuda, way, gpus in ways:
            self.assertEqual(rules.driver_runs(self.catalog, driver, self.cuda(cuda), gpus), way)
        self.assertEqual(rules.driver_runs(self.catalog, "418.39", self.cuda("10.2.89"), geforce), "")

    def test_ptx(self):
        wheel, a100 = Row(cuda_tested="==11.3.*", sm="7.0", ptx="7.0", pip="x"), Row(version="A100", sm="8.0")
        wrong = lambda driver, way: rules.ptx_wrong(self.catalog, wheel, a100, driver, way)
        self.assertIn("PTX", wrong("450.80.02", "minor"))
        self.assertEqual([wrong("465.19.01", "exact"), wrong("450.80.02", "compat")], ["", ""])

    def test_gate(self):
        gate = lambda driver: rules.gate_refuses(self.catalog, driver, self.cuda("11.8.0"), [])
        self.assertEqual([gate("515.65.01"), gate("470.57.02"), gate("520.61.05")], [True, False, False])

    def test_gpus(self):
        take = lambda gpu, cuda: rules.gpu_takes_cuda(self.catalog, self.gpu(gpu), self.cuda(cuda))
        self.assertEqual(take("RTX 3090", "11.0.3"), "yes")
        self.assertEqual(take("Tesla V100 SXM2", "13.0.0"), "")
        self.assertEqual(take("B200", "12.5.1"), "jit")
        self.assertEqual(take("B200", "11.8.0"), "")
        wheel = Row(sm="7.5;8.0-9.0", ptx="9.0")
        takes = [rules.wheel_takes(self.catalog, wheel, Row(sm=sm)) for sm in ("7.0", "8.6", "10.0")]
        self.assertEqual(takes, [False, True, True])


class Damage(unittest.TestCase):
    def setUp(self):
        self.catalog = Catalog(REAL)
        self.good = document(self.catalog)

    def test_good(self):
        self.assertEqual(check(self.catalog, self.good, REQUESTS), [])

    def assert_seen(self, word, change, requests=None):
        bad = copy.deepcopy(self.good)
        change(bad)
        wrong = check(self.catalog, bad, requests or REQUESTS)
        self.assertTrue(any(word in text for text in wrong), (word, wrong))

    def put(self, name, version, text=""):
        return lambda bad: bad["stack"].update({name: choice(self.catalog, name, version, text)})

    def test_rows(self):
        self.assert_seen("torch 1.10.2 wants cuda", self.put("cuda", "12.1.1"))
        self.assert_seen("wants gcc", self.put("gcc", "9.4.0") and self.put("cuda", "10.0.130"))
        self.assert_seen("rpm packages", self.put("nccl", "2.9.9-1", "libnccl-2.9.9"))
        self.assert_seen("no CUDA", self.put("cuda", "10.2.89"))
        old, new = self.put("os", "ubuntu16.04"), self.put("python", "3.10")
        self.assert_seen("python-3.10-openssl-1.0", lambda bad: old(bad) or new(bad))

    def test_brought(self):
        wheel = Row(brings="cudnn==8.2.0.53;nccl==2.10.3")
        self.assertEqual([rules.brings(wheel, name) for name in ("cudnn", "nccl", "cuda")], ["8.2.0.53", "2.10.3", ""])
        beside = lambda version, named: rules.stands_beside(wheel, "cudnn", version, named)
        self.assertEqual([beside("9.1.0", {"cudnn"}), beside("8.1.0", {"cudnn"}), beside("9.1.0", set())], [True, False, False])
        self.assert_seen("no row has", lambda bad: bad["stack"]["cudnn"].update(wheel="torch", version="9.9.9"))

    def test_drivers_of_gpus(self):
        gpu = {row["version"]: row for row in self.catalog.rows("gpu")}
        why = lambda name, driver: rules.undriven(self.catalog, gpu[name], driver)
        for name, bad, good in (
            ("H100 SXM5", "515.65.01", "525.60.13"),
            ("Tesla K80", "515.65.01", "470.57.02"),
            ("Tesla V100 SXM2", "590.44.01", "580.65.06"),
            ("RTX 5090", "560.28.03", "570.86.10"),
        ):
            self.assertTrue(why(name, bad))
            self.assertEqual(why(name, good), "")
        self.assertTrue(why("GB200", "580.65.06"))

    def test_cells(self):
        self.assert_seen("no row has", lambda bad: bad["stack"]["openmpi"].update(sha256="00"))
        self.assert_seen("no row has", lambda bad: bad["stack"]["nccl"].update(package="libnccl2"))
        self.assert_seen("sources.csv", lambda bad: bad["stack"]["cuda"].update(source="nobody"))
        self.assert_seen("has no gcc", lambda bad: bad["stack"].pop("gcc"))

    def test_givens(self):
        torch = self.put("torch", "1.10.2")
        self.assert_seen("does not admit", torch, REQUESTS + ["torch>=2"])
        self.assert_seen("does not admit", torch, REQUESTS + ["cuda==11.2"])
        self.assert_seen("does not take", torch, ["torch", "driver==470.57.02", "gpu==RTX 5090"])

    def test_base(self):
        self.assert_seen("the document says gone", lambda bad: bad["base"].update(status="gone"))
        other = self.good["base"]["name"].replace("11.3.1", "11.4.3")
        self.assert_seen("is not for CUDA", lambda bad: bad["base"].update(name=other))
        self.assert_seen("NVIDIA_DISABLE", lambda bad: bad.update(env=["NVIDIA_DISABLE_REQUIRE=true"]))


class Processor(unittest.TestCase):
    """The tables of aarch64, and what is of the other processor."""

    def setUp(self):
        self.catalog = Catalog(REAL)

    def gpus(self, *names):
        return [row for name in names for row in self.catalog.rows("gpu") if row["version"] == name]

    def test_tables(self):
        own = self.catalog.of("aarch64")
        self.assertIs(self.catalog.of("x86_64"), self.catalog)
        self.assertIs(self.catalog.of("aarch64"), own)
        self.assertIn("/sbsa", next(row["repository"] for row in own.rows("os") if row["version"] == "ubuntu22.04"))
        self.assertEqual({row["index"][-5:] for row in own.rows("torch") if row["version"] == "2.8.0"}, {"cu129"})
        self.assertIs(own.rows("cuda"), self.catalog.rows("cuda"))

    def test_who_says(self):
        said = lambda words, *gpus: rules.processor(self.catalog, words, self.gpus(*gpus))
        self.assertEqual([said([]), said(["arm64"]), said([], "GH200")], ["x86_64", "aarch64", "aarch64"])
        self.assertEqual([said(["x86_64"], "GH200"), said([], "A10G", "GB200")], ["x86_64", "aarch64"])
        hopper, orin = self.gpus("GH200", "Jetson AGX Orin")
        self.assertTrue(rules.has_no_recipe(self.catalog, hopper) and rules.has_no_recipe(self.catalog, orin))
        own = self.catalog.of("aarch64")
        self.assertTrue(not rules.has_no_recipe(own, hopper) and rules.has_no_recipe(own, orin))

    def test_damage(self):
        good = document(self.catalog)
        self.assertTrue(any("about aarch64" in text for text in check(self.catalog, good, [*REQUESTS, "arch==aarch64"])))
        wrong = check(self.catalog, dict(good, arch="aarch64"), [*REQUESTS, "arch==aarch64"])
        self.assertTrue(any("torch 1.10.2: no row" in text for text in wrong), wrong)


class Facts(unittest.TestCase):
    """facts.py knows the numbers by itself."""

    def setUp(self):
        self.catalog = Catalog(REAL)
        self.document = document(self.catalog)
        self.stack = stack_of(self.catalog, self.document, REQUESTS)
        self.gpus = [next(r for r in self.catalog.rows("gpu") if r["version"] == "Tesla V100 SXM2")]

    def wrong(self, **changes):
        """The sentences about the stack with other cells: component=(("column", "text"), ...)."""
        stack = {name: Row({**row, **dict(changes.get(name, ()))}) for name, row in self.stack.items()}
        self.document["stack"]["driver"].update(changes.get("driver", ()))
        return list(facts.stack_wrong(stack, self.document, changes.get("gpus", self.gpus)))

    def test_good(self):
        self.assertEqual(self.wrong(), [])

    def test_damage(self):
        version = lambda text: [("version", text)]
        geforce = [Row(version="RTX 2080", sm="7.5", **{"class": "geforce"})]
        old = [Row(version="Tesla K20", sm="3.0", **{"class": "datacenter"})]
        for word, changes in (
            ("major's minimum", {"driver": version("440.33.01"), "gpus": geforce}),
            ("no code", {"gpus": old}),
            ("takes GCC", {"gcc": version("11.4.0")}),
            ("cuDNN", {"cudnn": version("9.12.0")}),
            ("NCCL", {"nccl": [("built", "12.1")]}),
            ("NCCL", {"nccl": [("kind", "source"), ("version", "2.27.3-1")]}),
            ("glibc", {"torch": version("2.7.0"), "glibc": version("2.27")}),
            ("Python", {"torch": version("2.9.0"), "python": version("3.9")}),
        ):
            self.assertTrue(any(word in text for text in self.wrong(**changes)), (word, changes))

    def test_horovod(self):
        self.stack["horovod"] = Row(version="0.27.0", pip="horovod==0.27.0")
        self.assertEqual(self.wrong(), [])
        self.assertTrue(self.wrong(torch=[("version", "2.1.0"), ("pip", "")]))


class BruteForce(unittest.TestCase):
    """Everything is tried, and what is preferred is seen."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_better(self):
        seen = 0
        for item in range(30):
            catalog = small.make_useful(random.Random(item), f"{self.folder.name}/{item}", 0)
            brute = lowest_level(catalog, ["torch"])
            found = brute.main_stacks() if brute else set()
            versions = sorted({main[0][1] for main in found}, key=KEY)
            for version in versions[:-1]:
                rows = [row for row in brute.domains["torch"] if row["version"] == version]
                stacks = filter(None, (brute.first({"torch": row}) for row in rows))
                for stack in stacks:
                    self.assertIn("torch", better_stack(brute, stack))
                    self.assertEqual(better_stack(brute, stack).split()[1], version)
                    seen += 1
        self.assertGreater(seen, 5)

    def test_none(self):
        catalog = small.make_useful(random.Random(1), f"{self.folder.name}/none", 0)
        self.assertIsNone(Brute(catalog, ["torch>99"]).first())
        self.assertIsNone(lowest_level(catalog, ["cuda<1"]))


if __name__ == "__main__":
    unittest.main()
