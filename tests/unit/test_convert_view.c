#include "unit/harness.h"
TEST(x)
{
}
RUN_TESTS(T(x))
