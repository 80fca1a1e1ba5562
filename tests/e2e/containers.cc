// containers.cc - a C++ program: standard containers, aligned and nothrow new, exceptions, sized delete.
//
// Prints a checksum of its work, then how often it called the forms of operator new and delete that the
// standard library itself does not use here. Behaves the same each time.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

// The compiler may leave out a new with its delete unless the object is seen to escape.
void escape(void *object)
{
    asm volatile("" : : "g"(object) : "memory");
}

struct alignas(64) Line {
    unsigned char bytes[64];
};

struct alignas(256) Wide {
    unsigned char bytes[512];
};

std::uint64_t fill_containers()
{
    std::uint64_t sum = 0;
    std::map<std::string, std::vector<int>> by_name;
    std::unordered_map<int, std::shared_ptr<std::string>> by_number;
    std::list<std::string> queue;
    for (int i = 0; i < 20000; i++) {
        const std::string name = "a name too long for the string itself, number " + std::to_string(i % 500);
        by_name[name].push_back(i);
        by_number[i] = std::make_shared<std::string>(name);
        queue.push_back(name);
        if (queue.size() > 100)
            queue.pop_front();
        if (i % 3 == 0)
            by_number.erase(i / 2);
    }
    for (const auto &[name, numbers] : by_name)
        sum = sum * 31 + name.size() + numbers.size() + static_cast<std::uint64_t>(numbers.back());
    return sum * 31 + by_number.size() + queue.size();
}

std::uint64_t throw_and_catch()
{
    std::uint64_t caught = 0;
    for (int i = 0; i < 1000; i++) {
        try {
            auto held = std::make_unique<std::string>(100, 'x');
            if (i % 2 == 0)
                throw std::runtime_error("a message that is stored on the heap, because it is long");
            caught += held->size();
        } catch (const std::runtime_error &error) {
            caught += std::string(error.what()).size();
        }
    }
    volatile std::size_t impossible = static_cast<std::size_t>(-1) / 4;
    try {
        escape(::operator new(impossible));
    } catch (const std::bad_alloc &) {
        caught++;
    }
    if (!::operator new(impossible, std::nothrow))
        caught++;
    return caught;
}

// Every object of an alignment new must guarantee, or the count of wrong ones shows.
unsigned use_aligned(int times)
{
    unsigned wrong = 0;
    for (int i = 0; i < times; i++) {
        Line *line = new Line;
        Line *lines = new Line[3];
        Wide *wide = new (std::nothrow) Wide;
        escape(line);
        escape(lines);
        escape(wide);
        wrong += reinterpret_cast<std::uintptr_t>(line) % 64 != 0;
        wrong += reinterpret_cast<std::uintptr_t>(lines) % 64 != 0;
        wrong += reinterpret_cast<std::uintptr_t>(wide) % 256 != 0;
        delete line;
        delete[] lines;
        delete wide;
    }
    return wrong;
}

void use_nothrow(int times)
{
    for (int i = 0; i < times; i++) {
        int *number = new (std::nothrow) int(i);
        char *text = new (std::nothrow) char[100 + i];
        escape(number);
        escape(text);
        delete number;
        delete[] text;
    }
}

} // namespace

int main()
{
    const std::uint64_t sum = fill_containers();
    const std::uint64_t caught = throw_and_catch();
    const unsigned wrong = use_aligned(700);
    use_nothrow(900);
    std::printf("sum %llu, caught %llu, wrongly aligned %u\n", static_cast<unsigned long long>(sum),
                static_cast<unsigned long long>(caught), wrong);
    return wrong ? 1 : 0;
}
