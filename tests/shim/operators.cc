// operators.cc - every form of operator new and delete with a size of its own, failing forms, and what follows an
// exception. Called by name, so that the compiler cannot pair and drop them. Checked by test_calls.py.
#include <cstdint>
#include <cstdio>
#include <new>
#include <stdexcept>

static int failures;
static int handler_calls;

static void expect(bool condition, const char *what)
{
    if (condition)
        return;
    failures++;
    std::printf("wrong: %s\n", what);
}

static bool is_aligned(const void *address, std::size_t alignment)
{
    return (reinterpret_cast<std::uintptr_t>(address) & (alignment - 1)) == 0;
}

static void give_up()
{
    handler_calls++;
    std::set_new_handler(nullptr);
}

static void *volatile kept;

static std::size_t huge()
{
    volatile std::size_t bytes = std::size_t(1) << 61;
    return bytes;
}

static void plain()
{
    ::operator delete(::operator new(4001));
    ::operator delete[](::operator new[](4002));
    ::operator delete(::operator new(4003, std::nothrow), std::nothrow);
    ::operator delete[](::operator new[](4004, std::nothrow), std::nothrow);
    ::operator delete(::operator new(4005), std::size_t(4005));
    ::operator delete[](::operator new[](4006), std::size_t(4006));
    ::operator delete(nullptr);
    ::operator delete(::operator new(0));
}

static void aligned()
{
    const std::align_val_t a = std::align_val_t(128);
    void *p = ::operator new(4011, a);
    expect(is_aligned(p, 128), "aligned new");
    ::operator delete(p, a);
    ::operator delete[](::operator new[](4012, a), a);
    p = ::operator new(4013, a, std::nothrow);
    expect(is_aligned(p, 128), "aligned nothrow new");
    ::operator delete(p, a, std::nothrow);
    ::operator delete[](::operator new[](4014, a, std::nothrow), a, std::nothrow);
    ::operator delete(::operator new(4015, a), std::size_t(4015), a);
    ::operator delete[](::operator new[](4016, a), std::size_t(4016), a);
}

template <typename Call> static bool throws(Call call)
{
    try {
        call();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

static void failing()
{
    expect(throws([] { kept = ::operator new(huge()); }), "new throws");
    expect(throws([] { kept = ::operator new[](huge()); }), "new[] throws");
    expect(throws([] { kept = ::operator new(huge(), std::align_val_t(64)); }), "aligned new throws");
    expect(::operator new(huge(), std::nothrow) == nullptr, "nothrow new returns null");
    expect(::operator new[](huge(), std::nothrow) == nullptr, "nothrow new[] returns null");
    std::set_new_handler(give_up);
    expect(throws([] { kept = ::operator new(huge()); }), "new throws after its handler");
    expect(handler_calls == 1, "the handler was called");
    // recording goes on
    for (int i = 0; i < 100; i++)
        ::operator delete(::operator new(4021));
}

int main()
{
    plain();
    aligned();
    failing();
    std::printf("failures %d\n", failures);
    return failures != 0;
}
