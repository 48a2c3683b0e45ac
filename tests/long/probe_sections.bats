#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The probe against recorded outputs of real hosts, each in every shell that a host may have as sh.

load ../cli/probe_sections

@test "recorded hosts, in dash, bash and busybox" {
	recorded_hosts all
}
