/* SPDX-License-Identifier: MIT */
#include "deployer/setup/daemon_turn.h"

#include "deployer/remote.h"
#include "deployer/setup/daemon_json.h"

#include <stdlib.h>
#include <string.h>

#define RELOAD_MANAGED "systemctl reload docker"
#define RELOAD_ALONE "kill -HUP $(pidof dockerd)"
#define RESTART_MANAGED "systemctl restart docker"
#define RESTART_ALONE "a restart of dockerd by what starts it there"

/* A container may have been started since the plan was made. */
#define RESTART_IDLE                                                                    \
	"if [ -n \"$(docker ps -q)\" ]; then echo 'containers were started meanwhile: " \
	"systemctl restart docker waits for their end' >&2; exit 1; fi; " RESTART_MANAGED

const char *const daemon_after_names[] = {"nothing", "reload", "restart", "wait"};

static void turn_sort(const struct words *added, struct daemon_turn *turn)
{
	for (size_t i = 0; i < added->count; i++)
		words_add(daemon_json_reloads(added->list[i]) ? &turn->reloads : &turn->restarts,
			  added->list[i]);
}

static bool turn_moves_data(const struct daemon_turn *turn)
{
	for (size_t i = 0; i < turn->restarts.count; i++)
		if (strcmp(turn->restarts.list[i], "data-root") == 0)
			return true;
	return false;
}

static void turn_restart(struct daemon_turn *turn, const char *script, const char *why)
{
	turn->after = DAEMON_RESTARTS;
	turn->command = RESTART_MANAGED;
	turn->script = script;
	turn->why = why;
}

/* Something counts after a restart only, and the engine runs. */
static void turn_restart_or_wait(const char *look, struct arena *arena, struct daemon_turn *turn)
{
	const char *containers = remote_value(look, "containers", arena);
	bool is_managed = strcmp(remote_value(look, "managed", arena), "systemd") == 0;
	bool lives = strcmp(remote_value(look, "live_restore", arena), "true") == 0;

	if (is_managed && strcmp(containers, "0") == 0) {
		turn_restart(turn, RESTART_IDLE, "no container runs there");
		return;
	}
	/* live-restore does not find its containers in another folder */
	if (is_managed && lives && !turn_moves_data(turn)) {
		turn_restart(turn, RESTART_MANAGED, "live-restore keeps its containers");
		return;
	}
	turn->after = DAEMON_WAITS;
	turn->command = is_managed ? RESTART_MANAGED : RESTART_ALONE;
	if (turn->reloads.count)
		turn->script = is_managed ? RELOAD_MANAGED : RELOAD_ALONE;
	if (strcmp(containers, "0") == 0)
		turn->why = "systemd does not run it";
	else
		turn->why = arena_printf(arena, "containers run there: %s, and it would stop them",
					 *containers ? containers : "unknown");
}

void daemon_turn_plan(const char *look, const struct words *added, const struct words *steps,
		      bool is_fresh, struct arena *arena, struct daemon_turn *turn)
{
	bool runs = *remote_value(look, "engine_process", arena);
	bool is_managed = strcmp(remote_value(look, "managed", arena), "systemd") == 0;

	*turn = (struct daemon_turn){.reloads = WORDS_INIT(arena),
				     .restarts = WORDS_INIT(arena),
				     .command = "",
				     .script = "",
				     .why = ""};
	if (runs)
		turn_sort(added, turn);
	if (runs || is_fresh)
		words_add_all(&turn->restarts, words_list(steps));
	if (turn->restarts.count && !runs) {
		turn_restart(turn, RESTART_IDLE, "it is new there");
	} else if (turn->restarts.count) {
		turn_restart_or_wait(look, arena, turn);
	} else if (turn->reloads.count) {
		turn->after = DAEMON_RELOADS;
		turn->script = turn->command = is_managed ? RELOAD_MANAGED : RELOAD_ALONE;
	}
}
