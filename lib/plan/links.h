/* SPDX-License-Identifier: MIT */
/*
 * links.h - a host's links as structs: what the probe says of NICs, InfiniBand ports, PCIe and
 * NVLink (plan/facts.h has the text).
 *
 * Sources: Linux, Documentation/ABI/testing/sysfs-class-net (`speed` in Mbit/s), sysfs-class-
 * infiniband (`rate`, `state`, `link_layer`), sysfs-bus-pci (`current_link_speed` and its like).
 */
#ifndef PLAN_LINKS_H
#define PLAN_LINKS_H

#include "plan/facts.h"

/* A NIC that is hardware. A virtual one (veth, a virtual machine's without a device) is not here:
 * what it says of its speed is made up. */
struct nic {
	const char *name;
	int mbit;	     /* 0: unknown, as virtio NICs say */
	const char *address; /* "0000:3b:00.0", or "-" */
};

struct ib_port {
	const char *device, *address;
	int port;
	bool active, is_ethernet; /* is_ethernet: RoCE */
	double gbits;		  /* as sysfs has it: "100 Gb/sec (4X EDR)" */
	int lanes;		  /* 4 of that; 0: sysfs does not say */
	const char *speed;	  /* "EDR" of that; "" */
};

struct pci_rate {
	double gts; /* per lane */
	int lanes;
};

struct pci_link {
	const char *address;
	bool is_gpu;		   /* else a NIC */
	struct pci_rate now;	   /* the speed falls when it is idle; the width does not */
	struct pci_rate own, slot; /* the most that the card and its slot can */
};

struct links {
	size_t nic_count, port_count, pci_count, gpu_count;
	struct nic *nics;
	struct ib_port *ports;
	struct pci_link *pci;
	const char **gpus; /* gpu_count products */
	int nvlinks;	   /* active ones of the GPU that has the fewest; -1: unknown */
};

/* Entries that are not in the probe's form are left out. Text lives in the arena. */
void links_parse(const struct facts *facts, struct arena *arena, struct links *links);

/* "16.0x16": false when it is no such text. */
bool pci_rate_parse(const char *text, struct pci_rate *rate);

/* The most that card and slot can together, at the width that they have agreed on. */
struct pci_rate pci_link_rate(const struct pci_link *link);

/* Whether two addresses are functions of one card. */
bool same_card(const char *a, const char *b);

#endif
