/* SPDX-License-Identifier: MIT */
/*
 * cards.h - the GPUs of a fleet, as `allreduce --health` of each host describes them (images/worker/health/health.h), and
 * which of them are ill or slow.
 *
 * A card is compared with the median of all cards of its model in the fleet, where there are CARDS_LEAST of them. Where
 * each of a host's cards (of a model, CARDS_HOST_LEAST or more) is slow beside those of the other hosts, it is the host that
 * is called slow, and its cards are compared with each other.
 */
#ifndef DEPLOYER_BENCH_CARDS_H
#define DEPLOYER_BENCH_CARDS_H

#include "core/json.h"
#include "core/words.h"

#define CARDS_OF_HOST_MAX 64  /* the worker tells of no more */
#define CARDS_LINE_BYTES 4096 /* longer ones are passed over: the worker writes none */
#define CARDS_LINES_MAX 4096  /* of a host */
#define CARDS_PAIRS_MAX (CARDS_OF_HOST_MAX * (CARDS_OF_HOST_MAX - 1) / 2)
#define CARDS_TEXT_BYTES 256 /* of a name or a reason; the rest is cut */
#define CARDS_XIDS_MAX 16
#define CARDS_LEAST 3 /* fewer of a model tell nothing of each other */
#define CARDS_HOST_LEAST 2

/*
 * Bandwidths: the wires and the memory of two cards are the same, so little is allowed. Chosen, not taken from a source:
 * it has met no fleet yet.
 */
#define CARDS_BANDWIDTH_PERCENT 95
/*
 * Calculating: cards of one model differ by their chips' power management, 8 % on average in five computing centers
 * (P. Sinha et al., "Not All GPUs Are Created Equal", SC22, arxiv.org/abs/2208.11035).
 */
#define CARDS_CALCULATION_PERCENT 90

enum card_measure {
	CARD_COPY,
	CARD_FILL,
	CARD_H2D,
	CARD_D2H,
	CARD_TFLOPS,
	CARD_BF16_TFLOPS,
	CARD_MEASURES
};

/* Texts are in the arena, "" where the worker said nothing. Numbers are 0 where they are not known. */
struct health_card {
	const char *host;
	int number; /* on its host */
	const char *model, *serial, *uuid, *bus, *slot;
	double measures
		[CARD_MEASURES]; /* GB/s of 1e9 bytes; 1e12 operations a second, of f32 and of bf16 */
	double wrong;		 /* results that it calculated wrongly */
	double ecc_uncorrected; /* since the driver was loaded */
	double pages_pending, remap_pending, remap_failed;
	double pcie_width, pcie_width_max;
	double throttle; /* bits of nvmlClocksEventReasons while it worked */
	double watt, celsius, sm_mhz;
	int xids[CARDS_XIDS_MAX];
	size_t xid_count;
	const char *error, *phase; /* why it came no further, and in which phase */
	const char *not_measured;  /* why it is not, though nothing is wrong with it */
	bool lost;
	bool host_is_slow;    /* in a measure, with all of its cards: no finding of this one */
	double usual_percent; /* of what it did in earlier runs, the worst measure; 0: not known */
	double hung_s;	      /* > 0: it hung in that phase */
	struct words findings;
};

/* Two cards of a host (card_pairs.h). */
struct card_pair {
	int a, b; /* their numbers; a < b */
	const char *link, *error;
	double to, from; /* GB/s from a to b, and from b to a; 0: not known */
	bool direct;	 /* not over the host's memory */
	double hung_s;
	double usual; /* of its kind; 0: not known */
	bool slow;
};

struct health_host {
	const char *host;
	const char *error; /* why there are no cards */
	bool simulated;
	struct health_card *cards;
	size_t count;
	struct card_pair *pairs;
	size_t pair_count;
	int pairs_left_out;    /* the time was up */
	struct words findings; /* about all of its cards */
};

/* Reads what a host's worker printed. What is no such line is passed over: the host may print anything. */
void cards_read(const char *text, size_t length, const char *host, struct arena *arena,
		struct health_host *out);

/* Fills the cards' findings. */
void cards_judge(struct health_host *hosts, size_t count, struct arena *arena);

/* Adds a finding where the card does less than a median lets expect; @whose that is: "the other H100". */
void card_compare(struct health_card *card, enum card_measure measure, double median,
		  const char *whose);

/* "node01 GPU 3 (NVIDIA H100 80GB HBM3, 0000:5d:00.0, slot 4, serial 132, GPU-0a...)" */
const char *card_name(const struct health_card *card, struct arena *arena);

/* Adds each finding, with the card's names, and the hosts that told of no card. */
void cards_list_findings(const struct health_host *hosts, size_t count, struct arena *arena,
			 struct words *findings);

/* Adds a sentence for each card that was not measured though nothing is wrong with it. */
void cards_list_not_measured(const struct health_host *hosts, size_t count, struct arena *arena,
			     struct words *sentences);

/* The name of a measure as JSON has it: "copy_gbps". */
const char *card_measure_name(enum card_measure measure);

/* Adds the cards and their findings to a document. */
void cards_to_json(const struct health_host *hosts, size_t count, cJSON *document);

#endif
