// plugin.cc - a C++ library that a C program loads privately: its libstdc++ is not in the scope that the preload's
// own look-up searches, and its operators come to the preload all the same.
#include <new>

extern "C" int plugin_run()
{
    int failures = 0;
    for (int i = 0; i < 10; i++) {
        void *p = ::operator new(4101);
        ::operator delete(p);
        p = ::operator new[](4102, std::nothrow);
        ::operator delete[](p);
    }
    try {
        volatile std::size_t huge = std::size_t(1) << 61;
        void *volatile p = ::operator new(huge);
        ::operator delete(p);
        failures++;
    } catch (const std::bad_alloc &) {
    }
    return failures;
}
