/* SPDX-License-Identifier: MIT */
/* Answers of DNS servers about SSHFP records, and of whoever sends datagrams in their name. */
#include "tests/fuzz/fuzz.h"

#include "deployer/access/sshfp.h"

#define KEY "AAAAC3NzaC1lZDI1NTE5AAAAIJrQ8kkOZxgbhRP0VzXGzhV3PHJ2nXgTEcDAfLbYbCsA"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct sshfp found;
	int rc = sshfp_parse(data, size, "node01.cluster.example", &found, &err);

	fuzz_check_error(rc, &err);
	fuzz_check(found.count <= SSHFP_RECORDS_MAX);
	if (rc < 0)
		return 0;
	for (size_t i = 0; i < found.count; i++) {
		const struct sshfp_record *record = &found.records[i];

		fuzz_check(record->algorithm >= 1 && record->algorithm <= 4);
		fuzz_check(record->length == (record->digest == 1 ? 20 : SSHFP_BYTES_MAX));
	}
	/* without a record nothing is the same */
	fuzz_check(sshfp_compare(&found, "ssh-ed25519", KEY) != SSHFP_SAME || found.count);
	return 0;
}
