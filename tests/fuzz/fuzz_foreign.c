/* SPDX-License-Identifier: MIT */
/* Text of hosts and registries: what is printed holds nothing that a terminal obeys, and is UTF-8. */
#include "tests/fuzz/fuzz.h"

#include "core/foreign.h"
#include "core/json.h"

static void check_clean(const char *text, bool is_line)
{
	_cleanup_(free_pointer) char *copy = xmalloc(strlen(text) + 1);

	memcpy(copy, text, strlen(text) + 1);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		fuzz_check(*p >= ' ' || (!is_line && (*p == '\n' || *p == '\t')));
		fuzz_check(*p != 0x7f && !(p[0] == 0xc2 && p[1] < 0xa0));
		fuzz_check(!(p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae));
		fuzz_check(!(p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
		fuzz_check(*p != 0xc0 && *p != 0xc1 && *p < 0xf5);
	}
	fuzz_check(strcmp(is_line ? foreign_clean_line(copy) : foreign_clean(copy), text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *text = fuzz_text(data, size), *line = fuzz_text(data, size);
	_cleanup_(str_release) struct str out = STR_INIT;
	_cleanup_(json_free) cJSON *json = NULL, *again = NULL;
	_cleanup_(free_pointer) char *printed = NULL;
	struct error err = {0};

	foreign_clean(text);
	check_clean(text, false);
	foreign_clean_line(line);
	check_clean(line, true);
	if (json_parse((const char *)data, size, "it", &json, &err) < 0)
		return 0;
	printed = cJSON_Print(json);
	foreign_add_json(&out, printed);
	check_clean(out.text, false);
	fuzz_check(json_parse(out.text, out.length, "it", &again, &err) == 0);
	return 0;
}
