/* SPDX-License-Identifier: MIT */
/*
 * facts.h - what one host is: the output of deployer/remote/probe/, or its JSON form.
 *
 * Every fact is a row of fact_rows. The members below are those that rules and plans work with; all
 * others are text in `more`, which facts_text gives by their key.
 *
 * The script prints `key=value` lines and leaves out unknown facts. Text is never NULL; unknown
 * text is "".
 */
#ifndef PLAN_FACTS_H
#define PLAN_FACTS_H

#include "core/arena.h"
#include "core/error.h"
#include "core/json.h"

struct facts {
	const char *host; /* as cluster.yaml spells it */
	const char *hostname;
	const char *os;		   /* ID and VERSION_ID of os-release: "debian12", "ubuntu22.04" */
	const char *kernel, *arch; /* uname -r, uname -m */
	const char *glibc, *gcc;   /* "2.36", "12.2.0" */
	const char *python;
	const char *engine;	    /* "docker", "podman" or "" */
	const char *engine_version; /* of the server */
	const char *engine_error;   /* why an installed engine does not answer */
	const char *runtime_gpu;    /* version of the NVIDIA container toolkit */
	const char *driver;	    /* NVIDIA driver, "" when none is loaded */
	const char *gpus;	    /* product names, ';' between */
	const char *gpu_uuids;	    /* in the same order, "GPU-...;GPU-..." */
	const char *gpu_parts; /* MIG devices, "0:0 MIG-...;0:1 MIG-..."; "none"; "": not known */
	const char *gpu_error; /* why GPUs cannot be used: what nvidia-smi said when it failed */
	const char *simulated; /* "8x NVIDIA H100 80GB HBM3" when the GPUs are a lab's; "" real */
	const char *address;   /* in the cluster, in numbers */
	const char *interface; /* the NIC that owns the cluster address */
	const char *interface_cidr; /* its network, "10.0.0.0/24" */
	const char *infiniband;	    /* device names, ';' between */
	/* What plan/links.h parses, ';' between the entries: */
	const char *infiniband_ports; /* "mlx5_0 1 ACTIVE InfiniBand 0000:5e:00.0 100 Gb/sec (4X
					 EDR)" */
	const char *nics; /* that are hardware: "eth0 25000 0000:3b:00.0", Mbit/s, 0 unknown */
	const char
		*pci_links;  /* of GPUs and NICs: "0000:17:00.0 gpu NOW OWN SLOT", each "16.0x16" */
	const char *nvlinks; /* active NVLinks of each GPU: "12;12" */
	int interface_mbit;  /* of the hardware beneath `interface`; 0: unknown or virtual */
	const char *data_root; /* the engine's data folder */
	int cpus;
	double memory_bytes, disk_free_bytes; /* disk: of data_root */
	double clock_skew_seconds;	      /* host minus controller, rounded to the round trip */
	const char **more;		      /* by row; NULL, and NULL in it: unknown */
};

#define FACT_MORE SIZE_MAX /* offset of a row that is no member */
#define FACT_NONE SIZE_MAX /* fact_row's for a key that is none */

enum fact_kind {
	FACT_TEXT,
	FACT_WHOLE, /* an int, 0 or more */
	FACT_REAL,  /* a double, 0 or more */
	FACT_SKEW,  /* a double of either sign, which the caller's clock has part in */
};

/* What a comparison of hosts, and of today with last time, may expect. */
enum fact_habit {
	FACT_SHARED, /* hosts of one kind have the same */
	FACT_OWN,    /* each host has its own */
	FACT_MOVES,  /* it is another one every time */
};

struct fact_row {
	const char *key; /* on the wire and in JSON */
	const char *meaning;
	enum fact_kind kind;
	enum fact_habit habit;
	size_t offset; /* in struct facts, or FACT_MORE */
};

extern const struct fact_row fact_rows[];
extern const size_t fact_row_count;

/* The row of that key, or FACT_NONE. */
size_t fact_row(const char *key);

/*
 * The fact as text, numbers without trailing zeros; "" when it is not known. A member that is a
 * number is always known. In the arena, or the facts' own.
 */
const char *facts_text(const struct facts *facts, size_t row, struct arena *arena);

/*
 * Gives `facts`, which came from a probe without details, the details that `before` has. Both live in
 * the arena.
 */
void facts_keep_details(struct facts *facts, const struct facts *before, struct arena *arena);

/* When the probe was asked for and when its answer was complete, by this machine's clock: seconds since 1970. */
struct probe_span {
	double asked, answered;
};

/*
 * Parses the script's lines; unknown keys are skipped. `host` is copied. The host reads its clock first of all and last of
 * all, between `asked` and `answered`. The clock's difference is the smallest that this allows, so a slow network or a
 * busy host shows none. NULL: nobody looked at the time, and there is no difference.
 */
int facts_parse(const char *host, const char *text, const struct probe_span *span,
		struct arena *arena, struct facts *facts, struct error *err);

/* The caller owns the object. */
cJSON *facts_to_json(const struct facts *facts);
int facts_from_json(const cJSON *json, struct arena *arena, struct facts *facts, struct error *err);

#endif
