/* SPDX-License-Identifier: MIT */
/* Every fact of a host. A new fact is a row here and a line of the probe that says it. */
#include "plan/facts.h"

#include <stddef.h>
#include <string.h>

#define MEMBER(member, kind, habit, meaning) \
	{#member, meaning, kind, habit, offsetof(struct facts, member)},
#define MORE(key, kind, habit, meaning) {#key, meaning, kind, habit, FACT_MORE},

const struct fact_row fact_rows[] = {
	/* the host */
	MEMBER(hostname, FACT_TEXT, FACT_OWN, "name of the host") MEMBER(
		os, FACT_TEXT, FACT_SHARED,
		"ID and VERSION_ID of os-release") MORE(os_like, FACT_TEXT, FACT_SHARED,
							"ID_LIKE of os-release")
		MORE(os_codename, FACT_TEXT, FACT_SHARED, "VERSION_CODENAME of os-release") MEMBER(
			kernel, FACT_TEXT, FACT_SHARED,
			"uname -r") MEMBER(arch, FACT_TEXT, FACT_SHARED,
					   "uname -m") MEMBER(glibc, FACT_TEXT, FACT_SHARED,
							      "version of the C library")
			MEMBER(gcc, FACT_TEXT, FACT_SHARED, "version of the C compiler") MEMBER(
				python, FACT_TEXT, FACT_SHARED,
				"version of python3") MORE(virtualization, FACT_TEXT, FACT_SHARED,
							   "systemd-detect-virt: none, kvm, docker ...")
				MORE(uptime_s, FACT_REAL, FACT_MOVES, "seconds since the boot") MORE(
					init, FACT_TEXT, FACT_SHARED,
					"systemd where it runs the host") MORE(cgroup, FACT_TEXT,
									       FACT_SHARED,
									       "v1, v2 or hybrid")
					MORE(reboot_required, FACT_TEXT, FACT_SHARED,
					     "yes where an update waits for a reboot")
						MORE(user, FACT_TEXT, FACT_SHARED,
						     "who is logged in") MORE(login_shell,
									      FACT_TEXT,
									      FACT_SHARED,
									      "the shell of that user")
							MORE(groups, FACT_TEXT, FACT_SHARED,
							     "the groups of that user")
								MORE(root_by, FACT_TEXT,
								     FACT_SHARED,
								     "how root is reached: login, sudo or no")
	/* processors and memory */
	MEMBER(cpus, FACT_WHOLE, FACT_SHARED, "processors at work") MORE(
		cpu_model, FACT_TEXT, FACT_SHARED,
		"model of the processor") MORE(cpu_sockets, FACT_WHOLE, FACT_SHARED,
					       "processor packages") MORE(numa_nodes, FACT_WHOLE,
									  FACT_SHARED, "NUMA nodes")
		MORE(cpu_governor, FACT_TEXT, FACT_SHARED, "frequency governor of processor 0") MORE(
			smt,
			FACT_TEXT, FACT_SHARED,
			"hardware threads: on, off, notsupported ...")
			MEMBER(memory_bytes, FACT_REAL, FACT_SHARED, "memory, in bytes") MORE(
				memory_free_bytes, FACT_REAL, FACT_MOVES,
				"memory that programs can have, in bytes")
				MORE(swap_bytes, FACT_REAL, FACT_SHARED,
				     "swap space, in bytes") MORE(swap_used_bytes, FACT_REAL,
								  FACT_MOVES,
								  "swap space in use, in bytes")
					MORE(hugepages, FACT_TEXT, FACT_SHARED,
					     "transparent huge pages: always, madvise, never")
						MORE(numa_balancing, FACT_WHOLE, FACT_SHARED,
						     "kernel.numa_balancing")
							MORE(load, FACT_REAL, FACT_MOVES,
							     "load of the last minute")
	/* disks */
	MORE(disks, FACT_TEXT, FACT_SHARED, "NAME BYTES flash|rotating MODEL of each disk") MORE(
		root_free_bytes, FACT_REAL, FACT_MOVES, "free on /, in bytes")
		MORE(root_free_inodes, FACT_REAL, FACT_MOVES, "free inodes on /") MORE(
			tmp_free_bytes, FACT_REAL, FACT_MOVES,
			"free on /tmp, in bytes") MORE(tmp_read_only, FACT_TEXT, FACT_SHARED,
						       "yes where nothing can be written to /tmp")
			MORE(tmp_noexec, FACT_TEXT, FACT_SHARED, "yes where /tmp is mounted noexec")
				MORE(shm_bytes, FACT_REAL, FACT_SHARED,
				     "size of the host's /dev/shm, in bytes")
					MORE(read_only_mounts, FACT_TEXT, FACT_SHARED,
					     "disks that are mounted read-only")
						MORE(network_mounts, FACT_TEXT, FACT_SHARED,
						     "FOLDER TYPE of each network file system")
	/* the engine */
	MEMBER(engine, FACT_TEXT, FACT_SHARED, "the engine that is installed") MEMBER(
		engine_version, FACT_TEXT, FACT_SHARED,
		"its version") MEMBER(engine_error, FACT_TEXT, FACT_SHARED,
				      "why it does not answer") MEMBER(data_root, FACT_TEXT,
								       FACT_SHARED,
								       "its data folder")
		MEMBER(disk_free_bytes, FACT_REAL, FACT_MOVES, "free on the disk of data_root, in bytes") MORE(
			engine_memlock,
			FACT_TEXT, FACT_SHARED,
			"locked memory that its service may have, in bytes")
			MORE(engine_enabled, FACT_TEXT, FACT_SHARED, "whether it starts with the host") MORE(
				docker_from,
				FACT_TEXT, FACT_SHARED,
				"snap or podman where docker is one of these")
				MORE(
					daemon_json,
					FACT_TEXT, FACT_SHARED,
					"/etc/docker/daemon.json without blanks") MORE(containers_running,
										       FACT_WHOLE,
										       FACT_MOVES,
										       "containers that run")
					MORE(containers_others, FACT_TEXT, FACT_MOVES,
					     "NAME IMAGE of those that are not ringup's")
						MEMBER(runtime_gpu, FACT_TEXT, FACT_SHARED,
						       "version of NVIDIA's container toolkit")
							MORE(cdi_files, FACT_TEXT, FACT_SHARED,
							     "CDI specifications")
								MORE(cdi_driver, FACT_TEXT,
								     FACT_SHARED,
								     "drivers that they were made for")
									MORE(toolkit_no_cgroups,
									     FACT_TEXT, FACT_SHARED,
									     "no-cgroups of the toolkit's config.toml")
										MORE(toolkit_mode,
										     FACT_TEXT,
										     FACT_SHARED,
										     "mode of the toolkit's config.toml")
	/* GPUs */
	MEMBER(driver, FACT_TEXT, FACT_SHARED, "version of the NVIDIA driver's module") MORE(
		driver_cuda, FACT_TEXT, FACT_SHARED,
		"newest CUDA of the driver's library") MORE(driver_library, FACT_TEXT, FACT_SHARED,
							    "versions of libnvidia-ml.so on disk")
		MORE(driver_on_disk, FACT_TEXT, FACT_SHARED,
		     "version of the module that the next boot loads") MORE(driver_module,
									    FACT_TEXT, FACT_SHARED,
									    "open or proprietary")
			MORE(driver_packages, FACT_TEXT, FACT_SHARED,
			     "NAME VERSION of the driver's packages") MEMBER(gpus, FACT_TEXT,
									     FACT_SHARED, "product names")
				MEMBER(gpu_uuids, FACT_TEXT, FACT_OWN, "UUIDs") MEMBER(
					gpu_error, FACT_TEXT, FACT_SHARED,
					"why GPUs cannot be used") MEMBER(simulated,
									  FACT_TEXT, FACT_SHARED,
									  "what a lab simulates")
					MORE(gpu_serials, FACT_TEXT, FACT_OWN,
					     "serial numbers") MORE(gpu_compute, FACT_TEXT,
								    FACT_SHARED,
								    "compute capabilities")
						MORE(gpu_memory_mib, FACT_TEXT, FACT_SHARED,
						     "memory, in MiB") MORE(gpu_memory_used_mib,
									    FACT_TEXT, FACT_MOVES,
									    "memory in use, in MiB")
							MORE(gpu_celsius, FACT_TEXT, FACT_MOVES,
							     "temperature") MORE(gpu_persistence,
										 FACT_TEXT,
										 FACT_SHARED,
										 "persistence mode")
								MORE(gpu_compute_modes, FACT_TEXT,
								     FACT_SHARED,
								     "Default, Exclusive_Process, Prohibited")
									MORE(gpu_mig, FACT_TEXT,
									     FACT_SHARED,
									     "MIG mode")
										MORE(
											gpu_ecc,
											FACT_TEXT, FACT_SHARED, "ECC mode") MORE(gpu_ecc_pending, FACT_TEXT, FACT_SHARED, "ECC mode after a reboot") MORE(gpu_ecc_errors, FACT_TEXT, FACT_SHARED, "uncorrected ECC errors since the driver was loaded") MORE(gpu_remapped_rows, FACT_TEXT, FACT_SHARED, "rows of memory remapped for uncorrected errors") MORE(gpu_remap_pending, FACT_TEXT, FACT_SHARED, "a remap waits for a reset") MORE(gpu_remap_failure,
																																																											    FACT_TEXT,
																																																											    FACT_SHARED,
																																																											    "a remap failed") MORE(gpu_retire_pending,
																																																														   FACT_TEXT,
																																																														   FACT_SHARED,
																																																														   "a page waits for its retirement") MORE(gpu_pcie,
																																																																			   FACT_TEXT,
																																																																			   FACT_MOVES, "PCIe generation and lanes now, and at most: 1x16 of 4x16") MORE(gpu_power_cap_w, FACT_TEXT, FACT_SHARED, "power cap, in watts") MORE(gpu_power_default_w,
																																																																																					     FACT_TEXT,
																																																																																					     FACT_SHARED,
																																																																																					     "power cap as built, in watts") MORE(gpu_throttle,
																																																																																										  FACT_TEXT,
																																																																																										  FACT_MOVES, "what slows the clocks") MORE(gpu_fabric,
																																																																																															    FACT_TEXT, FACT_SHARED, "state of the NVLink fabric") MORE(gpu_recovery, FACT_TEXT, FACT_SHARED, "what the driver asks for: None, Reset, Reboot ...") MORE(gpu_processes, FACT_TEXT, FACT_MOVES, "processes on each") MORE(gpu_programs,
																																																																																																																										       FACT_TEXT, FACT_MOVES, "PID, NAME, MEMORY of programs that compute") MORE(pci_gpus,
																																																																																																																																				 FACT_WHOLE,
																																																																																																																																				 FACT_SHARED, "NVIDIA GPUs on the PCI bus") MORE(pci_displays, FACT_TEXT, FACT_SHARED, "makers of the display controllers") MORE(nvidia_devices,
																																																																																																																																																				 FACT_WHOLE,
																																																																																																																																																				 FACT_SHARED, "device nodes /dev/nvidia0 ...") MORE(nvidia_uvm, FACT_TEXT, FACT_SHARED, "yes where the module nvidia_uvm is loaded") MORE(nouveau,
																																																																																																																																																																					  FACT_TEXT, FACT_SHARED, "yes where the module nouveau is loaded") MORE(xid_errors, FACT_TEXT,
																																																																																																																																																																														 FACT_MOVES,
																																																																																																																																																																														 "NUMBER xCOUNT of errors in the kernel's log") MEMBER(nvlinks,
																																																																																																																																																																																				       FACT_TEXT, FACT_SHARED, "NVLinks at work") MORE(nvlinks_inactive,
																																																																																																																																																																																										       FACT_TEXT, FACT_SHARED,
																																																																																																																																																																																										       "NVLinks that are not at work") MORE(nvswitches,
																																																																																																																																																																																															    FACT_WHOLE,
																																																																																																																																																																																															    FACT_SHARED,
																																																																																																																																																																																															    "NVSwitches")
											MORE(fabric_manager, FACT_TEXT, FACT_SHARED, "version of the fabric manager") MORE(
												fabric_manager_state,
												FACT_TEXT,
												FACT_SHARED,
												"state of its service") MORE(persistenced_state,
															     FACT_TEXT,
															     FACT_SHARED, "state of nvidia-persistenced")
												MORE(peermem,
												     FACT_TEXT,
												     FACT_SHARED,
												     "module for GPUDirect RDMA, or no")
													MORE(gdrcopy,
													     FACT_TEXT,
													     FACT_SHARED,
													     "yes where gdrdrv is loaded")
	/* network */
	MEMBER(address, FACT_TEXT, FACT_OWN, "address in the cluster, in numbers") MEMBER(
		interface, FACT_TEXT, FACT_SHARED,
		"interface of that address") MEMBER(interface_cidr, FACT_TEXT, FACT_SHARED,
						    "its network") MEMBER(interface_mbit,
									  FACT_WHOLE, FACT_SHARED,
									  "speed of its hardware, in Mbit/s")
		MORE(interface_mtu, FACT_WHOLE, FACT_SHARED, "its MTU, in bytes") MORE(
			networks, FACT_TEXT,
			FACT_OWN,
			"INTERFACE ADDRESS/BITS of each") MORE(default_route, FACT_TEXT,
							       FACT_SHARED,
							       "interface of the default route")
			MORE(own_name, FACT_TEXT, FACT_OWN,
			     "addresses that the host finds under its own name") MORE(nameservers,
										      FACT_TEXT,
										      FACT_SHARED,
										      "name servers")
				MORE(ip_forward, FACT_WHOLE, FACT_SHARED, "net.ipv4.ip_forward") MORE(
					rp_filter, FACT_WHOLE, FACT_SHARED,
					"net.ipv4.conf.all.rp_filter") MORE(somaxconn,
									    FACT_WHOLE, FACT_SHARED,
									    "net.core.somaxconn")
					MORE(local_ports, FACT_TEXT, FACT_SHARED, "net.ipv4.ip_local_port_range") MORE(
						proxy, FACT_TEXT, FACT_SHARED,
						"proxies, without passwords") MORE(no_proxy,
										   FACT_TEXT, FACT_SHARED,
										   "what goes past the proxies")
						MORE(
							firewalls, FACT_TEXT, FACT_SHARED,
							"what may drop packets") MORE(listening,
										      FACT_TEXT, FACT_MOVES,
										      "TCP ports that others can reach")
							MEMBER(infiniband, FACT_TEXT, FACT_SHARED,
							       "RDMA devices") MEMBER(infiniband_ports,
										      FACT_TEXT,
										      FACT_OWN,
										      "their ports: see links.h")
								MORE(infiniband_firmware, FACT_TEXT,
								     FACT_SHARED,
								     "their firmware") MORE(roce_gids,
											    FACT_TEXT,
											    FACT_OWN,
											    "DEVICE PORT INDEX VERSION ADDRESS of RoCE")
									MORE(rdma_stack, FACT_TEXT,
									     FACT_SHARED,
									     "version of MLNX_OFED or DOCA")
										MEMBER(nics,
										       FACT_TEXT,
										       FACT_OWN,
										       "Ethernet hardware: see links.h")
											MEMBER(pci_links,
											       FACT_TEXT,
											       FACT_MOVES,
											       "PCIe links: see links.h")
	/* limits and security */
	MORE(limit_memlock, FACT_TEXT, FACT_SHARED, "locked memory of a login, in bytes or unlimited") MORE(
		limit_files, FACT_TEXT, FACT_SHARED,
		"open files of a login") MORE(limit_stack, FACT_TEXT, FACT_SHARED,
					      "stack of a login, in bytes or unlimited")
		MORE(limit_processes, FACT_TEXT, FACT_SHARED, "processes of a user") MORE(
			kernel_max_map_count, FACT_REAL,
			FACT_SHARED,
			"vm.max_map_count") MORE(kernel_overcommit, FACT_WHOLE, FACT_SHARED,
						 "vm.overcommit_memory") MORE(kernel_pid_max,
									      FACT_REAL,
									      FACT_SHARED,
									      "kernel.pid_max")
			MORE(kernel_threads_max, FACT_REAL, FACT_SHARED, "kernel.threads-max") MORE(
				kernel_ptrace_scope,
				FACT_WHOLE, FACT_SHARED,
				"kernel.yama.ptrace_scope") MORE(kernel_inotify_instances,
								 FACT_REAL, FACT_SHARED,
								 "fs.inotify.max_user_instances")
				MORE(kernel_zone_reclaim, FACT_WHOLE, FACT_SHARED, "vm.zone_reclaim_mode") MORE(
					kernel_shmmax, FACT_REAL,
					FACT_SHARED,
					"kernel.shmmax") MORE(kernel_user_namespaces, FACT_REAL,
							      FACT_SHARED,
							      "user.max_user_namespaces")
					MORE(kernel_command_line, FACT_TEXT, FACT_OWN, "/proc/cmdline") MORE(
						kernel_headers,
						FACT_TEXT, FACT_SHARED,
						"whether headers of the running kernel are there")
						MORE(selinux, FACT_TEXT, FACT_SHARED,
						     "enforcing, permissive or disabled") MORE(apparmor,
											       FACT_TEXT,
											       FACT_SHARED,
											       "yes where it is on")
							MORE(secure_boot, FACT_TEXT, FACT_SHARED,
							     "enabled or disabled") MORE(lockdown,
											 FACT_TEXT,
											 FACT_SHARED,
											 "none, integrity or confidentiality")
								MORE(iommu, FACT_TEXT, FACT_SHARED,
								     "on where the kernel uses one")
									MORE(iommu_type, FACT_TEXT,
									     FACT_SHARED,
									     "identity, DMA or DMA-FQ")
										MORE(acs_bridges,
										     FACT_WHOLE,
										     FACT_SHARED,
										     "PCI bridges with ACS at work")
											MORE(userns_clone,
											     FACT_WHOLE,
											     FACT_SHARED,
											     "kernel.unprivileged_userns_clone")
	/* clock */
	MEMBER(clock_skew_seconds, FACT_SKEW, FACT_MOVES,
	       "clock of the host minus that of this machine, in seconds")
		MORE(clock_synchronized, FACT_TEXT, FACT_SHARED,
		     "yes where something keeps the clock")
			MORE(time_service, FACT_TEXT, FACT_SHARED, "what keeps it")
				MORE(clock_offset_s, FACT_TEXT, FACT_MOVES,
				     "its own offset from its servers, in seconds")
					MORE(timezone, FACT_TEXT, FACT_SHARED, "time zone")
	/* packages and managers */
	MORE(package_manager, FACT_TEXT, FACT_SHARED, "apt, dnf, yum, zypper or apk") MORE(
		automatic_updates, FACT_TEXT, FACT_SHARED, "what updates packages by itself")
		MORE(held_packages, FACT_TEXT, FACT_SHARED, "packages that it must not touch")
			MORE(apt_sources, FACT_TEXT, FACT_SHARED,
			     "archives of apt") MORE(yum_repositories, FACT_TEXT, FACT_SHARED,
						     "repositories of dnf, yum and zypper")
				MORE(old_nvidia_key, FACT_TEXT, FACT_SHARED,
				     "yes where apt has the key that NVIDIA replaced in 2022")
					MORE(dkms, FACT_TEXT, FACT_SHARED,
					     "state of the driver's module in DKMS")
						MORE(managers, FACT_TEXT, FACT_SHARED,
						     "resource managers at work")};
const size_t fact_row_count = ARRAY_LEN(fact_rows);

size_t fact_row(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(fact_rows); i++)
		if (strcmp(fact_rows[i].key, key) == 0)
			return i;
	return FACT_NONE;
}
