/* SPDX-License-Identifier: MIT */
/* The names of components, and which of them stand beside torch. */
#include "tests/unit/support.h"

#include "plan/component.h"

static void test_names(void **state)
{
	(void)state;
	for (int c = 0; c < COMPONENT_COUNT; c++)
		assert_int_equal(component_by_name(component_names[c]), c);
	assert_int_equal(component_by_name("nothing"), COMPONENT_NONE);
	assert_int_equal(component_by_name(""), COMPONENT_NONE);
	assert_int_equal(component_by_name("torch2"), COMPONENT_NONE);
	assert_int_equal(component_by_name("torc"), COMPONENT_NONE);
}

static void test_underscores(void **state)
{
	(void)state;
	assert_int_equal(component_by_name("flash_attn"), COMPONENT_FLASH_ATTN);
	assert_int_equal(component_by_name("transformer_engine"), COMPONENT_TRANSFORMER_ENGINE);
	assert_int_equal(component_by_name("megatron-core"), COMPONENT_MEGATRON_CORE);
	assert_int_equal(component_by_name("nvshmem"), COMPONENT_NVSHMEM);
	assert_int_equal(component_by_name("flash-attn_"), COMPONENT_NONE);
}

static void test_beside_torch(void **state)
{
	uint32_t torch = COMPONENT_BIT(COMPONENT_TORCH),
		 flash = COMPONENT_BIT(COMPONENT_FLASH_ATTN);

	(void)state;
	assert_int_equal(components_with_bases(flash), flash | torch);
	assert_int_equal(components_with_bases(torch), torch);
	assert_int_equal(components_with_bases(COMPONENT_BIT(COMPONENT_JAX)),
			 COMPONENT_BIT(COMPONENT_JAX));
	assert_int_equal(components_with_bases(COMPONENT_BIT(COMPONENT_AWS_OFI_NCCL)),
			 COMPONENT_BIT(COMPONENT_AWS_OFI_NCCL) |
				 COMPONENT_BIT(COMPONENT_LIBFABRIC));
	assert_int_equal(__builtin_popcount(COMPONENTS_BESIDE_TORCH), 9);
	assert_int_equal(COMPONENTS_BESIDE_TORCH & COMPONENTS_FRAMEWORK, 0);
	assert_int_equal(COMPONENTS_BESIDE_TORCH & ~COMPONENTS_PIP, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_underscores),
		cmocka_unit_test(test_beside_torch),
	};

	return cmocka_run_group_tests_name("component", tests, NULL, NULL);
}
