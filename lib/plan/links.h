/* SPDX-License-Identifier: MIT */
/*
 * links.h - a host's links as structs: NICs, InfiniBand ports, PCIe and NVLink. They come from the
 * probe's text in plan/facts.h.
 *
 * Sources: Linux, Documentation/ABI/testing/sysfs-class-net (`speed` in Mbit/s), sysfs-class-
 * infiniband (`rate`, `state`, `link_layer`), sysfs-bus-pci (`current_link_speed` and its like).
 */
#ifndef PLAN_LINKS_H
#define PLAN_LINKS_H

#include "plan/facts.h"

/*
 * A hardware NIC. Virtual NICs (veth, or a virtual machine's without a device) are left out,
 * because the speed that they report is invented.
 */
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
	const char *speed;	  /* "EDR" of that, or "" */
};

struct pci_rate {
	double gts; /* per lane */
	int lanes;
};

struct pci_link {
	const char *address;
	bool is_gpu;		   /* else a NIC */
	struct pci_rate now;	   /* current rate; an idle link is slower, but not narrower */
	struct pci_rate own, slot; /* maximum of the card and of its slot */
};

struct links {
	size_t nic_count, port_count, pci_count, gpu_count;
	struct nic *nics;
	struct ib_port *ports;
	struct pci_link *pci;
	const char **gpus; /* gpu_count products */
	int nvlinks;	   /* active ones of the GPU that has the fewest; -1: unknown */
};

/* Leaves out entries that do not have the probe's form. Text lives in the arena. */
void links_parse(const struct facts *facts, struct arena *arena, struct links *links);

/* Parses "16.0x16". False for any other form. */
bool pci_rate_parse(const char *text, struct pci_rate *rate);

/* The maximum rate of card and slot together, at the width that they have agreed on. */
struct pci_rate pci_link_rate(const struct pci_link *link);

/* Whether two addresses are functions of one card. */
bool same_card(const char *a, const char *b);

#endif
