/* SPDX-License-Identifier: MIT */
/*
 * kernel_log.h - what the hosts' kernels said while a job ran: GPU errors (Xid), memory that ran out.
 *
 * The supervisor of a job may run in a container, which cannot read the kernel's log. So the host itself is
 * asked, once a job has failed.
 */
#ifndef DEPLOYER_DIAGNOSIS_KERNEL_LOG_H
#define DEPLOYER_DIAGNOSIS_KERNEL_LOG_H

#include "deployer/diagnosis/diagnosis.h"
#include "deployer/fleet.h"

/*
 * Reads the last `seconds` of every host that answers, feeds them to the diagnosis, and keeps them as
 * FOLDER/kernel.log, each line behind its host. No message, no file. The fleet's connections are idle.
 */
void kernel_log_read(struct fleet *fleet, int seconds, const char *folder,
		     struct diagnosing *diagnosing);

#endif
