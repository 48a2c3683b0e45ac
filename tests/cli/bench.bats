#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# bench --from: a worker's document judged offline; text, JSON and the verdict. Runs are in tests/lab.

load helper

setup() {
	common_setup
	export RINGUP_CATALOG=$ROOT/recipes/catalog
	cp "$ROOT"/tests/golden/report/*.json .
	sed 's/"backend": "cpu"/"backend": "nccl"/' sgd.json >nccl.json
}

# facts KEY=VALUE...: facts.json of node01; strings, and numbers where the value is one.
facts() {
	python3 - "$@" >facts.json <<-'END'
		import json, sys
		host = {"host": "node01", "kernel": "6.1"}
		for pair in sys.argv[1:]:
		    key, value = pair.split("=", 1)
		    host[key] = int(value) if value.isdigit() else value
		print(json.dumps({"schema": 1, "hosts": [host]}))
	END
}

# out TEXT...: stdout of the last apart() holds each.
out() {
	local text
	for text; do
		grep -qF -- "$text" ../out || { echo "stdout does not say: $text"; cat ../out ../err; return 1; }
	done
}

@test "--find-slow: the heat map and who is slow; status 5" {
	apart ringup bench --from slow.json
	says 5 'slow: the link between rank 1 (node01) and rank 2 (node01)'
	golden bench-slow
}

@test "--sgd: the table of its ways; JSON is the worker's document, whole" {
	apart ringup bench --from sgd.json
	says 0
	golden bench-sgd
	apart ringup --json bench --from sgd.json
	says 0
	python3 - <<-'END'
		import json
		before, after = json.load(open("sgd.json")), json.load(open("../out"))
		assert before.pop("expected") is None
		assert {k: after[k] for k in before} == before, after
		assert set(after) - set(before) == {"expected", "notes"}, after.keys()
	END
	json 'd["expected"]["busbw"] is None and "no facts of the host node01" in d["expected"]["because"]'
}

@test "hosts with GPUs whose CPUs were measured: it is said" {
	facts 'gpus=NVIDIA H100 80GB HBM3;NVIDIA H100 80GB HBM3'
	apart ringup bench --from sgd.json --facts facts.json
	says 0 "the hosts have 2 GPUs, and this was measured on CPUs" "--backend nccl"
	apart ringup bench --from nccl.json --facts facts.json
	says 0
	! grep -q 'measured on CPUs' ../err
	facts driver=
	apart ringup bench --from sgd.json --facts facts.json
	! grep -q 'measured on CPUs' ../err
}

@test "what the hardware should give, and how much of it came" {
	facts 'gpus=NVIDIA H100 80GB HBM3;NVIDIA H100 80GB HBM3'
	apart ringup bench --from nccl.json --facts facts.json
	says 0
	out 'busbw 59.5 GB/s of 450.0 expected (13 %): NVLink of H100 SXM5, 18 links' '2 ranks on 1 host: verdict "pass"'
	apart ringup --json bench --from nccl.json --facts facts.json
	json 'd["expected"]["busbw"] == 450 and round(d["expected"]["percent"]) == 13 and "nccl-1264" in d["expected"]["source"]'
	apart ringup bench --from sgd.json --facts facts.json
	out 'busbw 59.5 GB/s; no expectation: inside one host'
}

@test "--min-percent: status 5 below it, and where nothing is known" {
	facts 'gpus=NVIDIA H100 80GB HBM3;NVIDIA H100 80GB HBM3'
	apart ringup bench --from nccl.json --facts facts.json --min-percent 13
	says 0
	apart ringup bench --from nccl.json --facts facts.json --min-percent 14
	says 5 'busbw 59.488 GB/s is 13.2 % of the 450.000 expected, below --min-percent 14'
	apart ringup --json bench --from nccl.json --facts facts.json --min-percent 14
	json 'd["verdict"] == "below threshold" and "13.2 %" in d["reason"] and d["results"]'
	apart ringup bench --from sgd.json --min-percent 14
	says 5 '--min-percent 14 cannot be judged: no expectation'
	apart ringup bench --from slow.json --min-percent 14
	says 5 'slow: the link'
}

@test "findings on the hosts' links are warnings, and in the JSON" {
	facts 'gpus=Tesla T4;Tesla T4' 'nvlinks=0;0' 'nics=eth0 10000 0000:3b:00.0;eth1 1000 0000:3b:00.1' \
		'pci_links=0000:17:00.0 gpu 2.5x8 8.0x16 8.0x16'
	apart ringup bench --from nccl.json --facts facts.json
	says 0 'node01: GPU 0000:17:00.0 runs on 8 of 16 PCIe lanes' 'node01: eth1 runs at 1000 Mbit/s'
	out 'of 7.88 expected' 'PCIe of Tesla T4, 8 GT/s on 8 lanes'
	apart ringup --json bench --from nccl.json --facts facts.json
	json 'len(d["notes"]) == 2'
}

@test "a collective that is not done in place" {
	python3 - <<-'END'
		import json
		d = json.load(open("nccl.json"))
		d["collective"] = "alltoall"
		d["results"] = [r for r in d["results"] if not r["inplace"]]
		json.dump(d, open("alltoall.json", "w"))
	END
	facts 'gpus=NVIDIA H100 80GB HBM3;NVIDIA H100 80GB HBM3'
	apart ringup bench --from alltoall.json --facts facts.json
	says 0
	out 'of 450.0 expected ('
	grep -E '^ +65536 .* 0 +- +- +- +-$' ../out
}

@test "what the worker was told to expect stays" {
	local status
	"$(dirname "$(command -v ringup)")/allreduce" --procs 2 -b 4K -e 4K -n 2 --host node01 --expect 1000000 --json >told.json
	apart ringup bench --from told.json --min-percent 1
	says 5 'of the 1000000.000 expected, below --min-percent 1'
	apart ringup --json bench --from told.json
	json 'd["expected"]["busbw"] == 1000000 and d["expected"]["because"] == "--expect" and d["expected"]["peak"] > 0'
}

@test "a catalog that cannot be read costs the expectation, not the verdict" {
	mkdir broken
	echo 'version' >broken/os.csv
	RINGUP_CATALOG=$PWD/broken apart ringup bench --from sgd.json
	says 0 'the speed is not judged' os.csv
	out 'verdict "pass"'
	RINGUP_CATALOG=$PWD/broken apart ringup bench --from sgd.json --min-percent 5
	says 2 os.csv
}

@test "wrong files and options" {
	apart ringup bench --from none.json
	says 2 none.json
	echo '{}' >empty.json
	apart ringup bench --from empty.json
	says 2 empty.json 'no verdict'
	apart ringup bench --from sgd.json --facts sgd.json
	says 2 'sgd.json holds no facts'
	apart ringup bench --facts facts.json
	says 2 '--facts goes with --from'
}
