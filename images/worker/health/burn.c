/* SPDX-License-Identifier: MIT */
#include "health/burn.h"
#include "clock.h"

#include <stdint.h>
#include <string.h>

#define BLOCKS_PER_PROCESSOR \
	4	    /* two fit at a time on every processor since compute capability 5.0 */
#define BATCH_S 0.1 /* of launches, between two looks at NVML */
#define BATCH_MAX 4096
#define THROTTLE_IDLE 0x1ULL /* nvmlClocksEventReasonGpuIdle */

/* What lies on the card. */
struct burn_state {
	struct card *card;
	const struct burn_kernel *kernel;
	double most_sec; /* for this kernel */
	void *function;
	cuda_address expected, errors;
	unsigned blocks;
};

static int burn_launch(const struct burn_state *s, unsigned blocks, unsigned compares,
		       struct failure *err)
{
	cuda_address expected = s->expected, errors = s->errors;
	unsigned rounds = s->kernel->rounds;
	void *parameters[] = {&expected, &errors, &rounds, &compares};

	return cuda_launch(&s->card->cuda, s->function, blocks, BURN_THREADS, s->card->stream,
			   parameters, err);
}

static int burn_load(struct burn_state *s, struct failure *err)
{
	static char text[BURN_TEXT_BYTES];
	const struct cuda *cuda = &s->card->cuda;
	const struct cuda_kernel kernel = {s->kernel->name, &s->function};
	int processors = 0, code;

	s->kernel->text(text);
	if (cuda_load(cuda, text, &kernel, 1, err) < 0 ||
	    cuda_processors(cuda, s->card->cuda_device, &processors, err) < 0)
		return -1;
	s->blocks = (unsigned)processors * BLOCKS_PER_PROCESSOR;
	code = cuda->cuMemAlloc(&s->expected, BURN_THREADS * sizeof(float));
	if (code == 0)
		code = cuda->cuMemAlloc(&s->errors, sizeof(uint32_t));
	return code == 0 ? 0 : cuda_failed(cuda, "cuMemAlloc", code, err);
}

/* The first launch, of one block: its results are what all others must come to, and the host knows one of them. */
static int burn_keep(struct burn_state *s, struct burn *burn, struct failure *err)
{
	const struct cuda *cuda = &s->card->cuda;
	const uint32_t none = 0;
	float first = 0, right = s->kernel->expected(s->kernel->rounds);
	double seconds;
	int code = cuda->cuMemcpyHtoD(s->errors, &none, sizeof(none));

	if (code != 0)
		return cuda_failed(cuda, "cuMemcpyHtoD", code, err);
	if (card_start_clock(s->card, err) < 0 || burn_launch(s, 1, 0, err) < 0 ||
	    card_stop_clock(s->card, &seconds, err) < 0)
		return -1;
	code = cuda->cuMemcpyDtoH(&first, s->expected, sizeof(first));
	if (code != 0)
		return cuda_failed(cuda, "cuMemcpyDtoH", code, err);
	burn->wrong += memcmp(&first, &right, sizeof(first)) != 0;
	return 0;
}

/* The card while it works. */
static void burn_look(struct card *card, struct burn *burn)
{
	const struct nvml *nvml = &card->nvml;
	double number;

	if (!card->device)
		return;
	burn->samples++;
	if (nvml_read_one(nvml, card->device, READING_SM_MHZ, &number) == 0)
		burn->sm_mhz += (number - burn->sm_mhz) / ++burn->clocks;
	if (nvml_read_one(nvml, card->device, READING_POWER_W, &number) == 0 &&
	    number > burn->power_w)
		burn->power_w = number;
	if (nvml_read_one(nvml, card->device, READING_CELSIUS, &number) == 0 &&
	    number > burn->celsius)
		burn->celsius = number;
	if (nvml_read_one(nvml, card->device, READING_THROTTLE, &number) == 0)
		burn->throttle |= (unsigned long long)number & ~THROTTLE_IDLE;
}

/* Launches that take about BATCH_S; NVML is asked while the last of them still run. */
static int burn_batch(struct burn_state *s, struct burn *burn, int launches, double *seconds,
		      struct failure *err)
{
	if (card_start_clock(s->card, err) < 0)
		return -1;
	for (int i = 0; i < launches; i++)
		if (burn_launch(s, s->blocks, 1, err) < 0)
			return -1;
	burn_look(s->card, burn);
	return card_stop_clock(s->card, seconds, err);
}

static int burn_work(struct burn_state *s, struct burn *burn, struct failure *err)
{
	double flop = s->kernel->thread_flop * BURN_THREADS * s->blocks, seconds, done = 0, all = 0;
	struct burn warm = {0};
	int launches = 1;

	if (burn_batch(s, &warm, 1, &seconds, err) < 0)
		return -1;
	if (seconds > 0)
		launches = BATCH_S / seconds < BATCH_MAX ? (int)(BATCH_S / seconds) : BATCH_MAX;
	launches += launches == 0;
	do {
		if (burn_batch(s, burn, launches, &seconds, err) < 0)
			return -1;
		all += seconds;
		done += flop * launches;
	} while (seconds > 0 && all < s->most_sec && clock_usec() < s->card->deadline_usec);
	burn->seconds += all;
	burn->tflops[s->kernel - burn_kernels] = all > 0 ? done / all / 1e12 : 0;
	return 0;
}

static int burn_run_kernel(struct burn_state *s, struct burn *burn, struct failure *err)
{
	const struct cuda *cuda = &s->card->cuda;
	uint32_t wrong = 0;
	int code;

	if (burn_load(s, err) < 0 || burn_keep(s, burn, err) < 0 || burn_work(s, burn, err) < 0)
		return -1;
	code = cuda->cuMemcpyDtoH(&wrong, s->errors, sizeof(wrong));
	if (code != 0)
		return cuda_failed(cuda, "cuMemcpyDtoH", code, err);
	burn->wrong += wrong;
	cuda->cuMemFree(s->expected);
	cuda->cuMemFree(s->errors);
	return 0;
}

int burn_run(struct card *card, struct burn *burn, struct failure *err)
{
	int capability = 0, count = 0;

	memset(burn, 0, sizeof(*burn));
	if (cuda_capability(&card->cuda, card->cuda_device, &capability, err) < 0)
		return -1;
	for (int i = 0; i < BURN_KINDS; i++)
		count += burn_kernels[i].capability <= capability;
	for (int i = 0; i < BURN_KINDS; i++) {
		struct burn_state s = {.card = card,
				       .kernel = &burn_kernels[i],
				       .most_sec = (double)card->burn_sec / count};

		if (burn_kernels[i].capability <= capability && burn_run_kernel(&s, burn, err) < 0)
			return -1;
	}
	return 0;
}
