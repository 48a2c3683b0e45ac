/* SPDX-License-Identifier: MIT */
/* Who has which GPU, as a host says it: it comes from a machine that we do not control. */
#include "tests/fuzz/fuzz.h"

#include "deployer/lease/lease.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct lease_answer answer;
	const char *who;

	lease_answer_parse(text, &arena, &answer);
	fuzz_check(answer.gpu_count <= LEASE_GPUS_MAX && answer.holder_count <= LEASE_GPUS_MAX);
	fuzz_check(answer.ticket_count <= LEASE_GPUS_MAX && answer.queue >= 0);
	fuzz_check(lease_gpus_free(&answer) <= lease_gpus_total(&answer));
	/* they become CUDA_VISIBLE_DEVICES */
	for (size_t i = 0; i < answer.taken.count; i++)
		fuzz_check(*answer.taken.list[i] &&
			   !strpbrk(answer.taken.list[i], " ,;\n\033\"'$"));
	who = lease_holders_text(&answer, &arena);
	fuzz_check(!strchr(who, '\033') && !strchr(who, '\n'));
	return 0;
}
