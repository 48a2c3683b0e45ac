/* SPDX-License-Identifier: MIT */
#include "builder/machine.h"

#include "core/proc.h"
#include "core/str.h"
#include "core/words.h"
#include "plan/arch.h"

#include <string.h>
#include <sys/utsname.h>

#define MACHINE_TIMEOUT_S 20

/* What `uname -m` prints on the other machine. */
static int machine_ask(const struct build_host *on, struct arena *arena, const char **machine,
		       struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(arena);
	struct proc proc = {.timeout_s = MACHINE_TIMEOUT_S};

	words_add_all(&words, on->reach);
	words_add(&words, "uname -m");
	proc.words = words.list;
	if (proc_run(&proc, &result, err) < 0 ||
	    (result.status && proc_failed(&proc, &result, err) < 0))
		return error_wrap(err, "%s", on->name);
	*machine = arena_strndup(arena, result.out.text, strcspn(result.out.text, "\r\n"));
	return 0;
}

static int machine_compare(const char *arch, const struct build_host *on, struct arena *arena,
			   const char **machine, bool *fits, struct error *err)
{
	struct utsname uts;
	const char *known;

	*fits = !arch || !*arch;
	if (*fits)
		return 0;
	if (on && machine_ask(on, arena, machine, err) < 0)
		return -1;
	if (!on && uname(&uts) < 0)
		return error_errno(err, "cannot ask for this machine's processor");
	if (!on)
		*machine = arena_strdup(arena, uts.machine);
	known = arch_by_name(*machine);
	/* a stack of the OS's own packages has no name for other processors */
	*fits = known ? strcmp(known, arch) == 0 : strcmp(arch, ARCH_DEFAULT) == 0;
	return 0;
}

int machine_fits(const char *arch, const struct build_host *on, struct arena *arena, bool *fits,
		 struct error *err)
{
	const char *machine = "";

	return machine_compare(arch, on, arena, &machine, fits, err);
}

int machine_check(const char *arch, const struct build_host *on, struct arena *arena,
		  struct error *err)
{
	const char *machine = "";
	bool fits;

	if (machine_compare(arch, on, arena, &machine, &fits, err) < 0)
		return -1;
	if (fits)
		return 0;
	error_set(err, ERROR_FAILED, "the image is for %s, and %s is %s: it cannot build it", arch,
		  on ? on->name : "this machine", machine);
	return error_advise(
		err, "run this on a host that is %s, or build there with 'ringup build --on HOST'",
		arch);
}
