// threads.cc - threads as services have them: `requests`, a pool of 2 to 13 for each request, each thread at work for a moment; `pool`,
// 40 threads that live; `pipeline`, six threads and the queues between them; `scheduler`, 64 threads that take tasks. Prints what the
// process itself had: resident memory at its peak beyond what it began with, glibc's arenas, threads at once.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

std::atomic<int> alive{1}, alive_most{1};

struct Alive {
    Alive()
    {
        const int now = ++alive;
        for (int most = alive_most; now > most && !alive_most.compare_exchange_weak(most, now);) {
        }
    }
    ~Alive() { alive--; }
};

std::uint32_t next(std::uint32_t &state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

// Some hundred strings and nodes, of which a part outlives the piece.
void piece(std::uint32_t seed, int count, std::vector<std::string> &kept, std::size_t most)
{
    std::uint32_t state = seed * 7919u + 1u;
    std::map<std::uint32_t, std::string> words;
    for (int i = 0; i < count; i++)
        words[next(state)] = std::string(16 + next(state) % 2000, 'x');
    for (auto &word : words)
        if (word.first % 4 == 0)
            kept.push_back(std::move(word.second));
    while (kept.size() > most)
        kept[next(state) % kept.size()].swap(kept.back()), kept.pop_back();
}

void requests(int count)
{
    std::mutex mutex;
    std::vector<std::string> cache;
    for (int request = 0; request < count; request++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 2 + request * 7 % 12; i++)
            threads.emplace_back([&, request, i] {
                const Alive self;
                std::vector<std::string> kept;
                piece(static_cast<std::uint32_t>(request * 16 + i), 200, kept, 100);
                const std::lock_guard<std::mutex> guard(mutex);
                cache.push_back(kept.back());
            });
        for (std::thread &thread : threads)
            thread.join();
        while (cache.size() > 2000)
            cache.erase(cache.begin(), cache.begin() + 1000);
    }
}

void pool(int threads_count, int rounds)
{
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable all_there;
    int there = 0; // else the first has ended where the last is born, on a few processors
    const auto meet = [&](int count) {
        std::unique_lock<std::mutex> lock(mutex);
        if (++there == count)
            all_there.notify_all();
        all_there.wait(lock, [&] { return there >= count; });
    };
    for (int i = 0; i < threads_count; i++)
        threads.emplace_back([=, &meet] {
            const Alive self;
            std::vector<std::string> kept;
            meet(threads_count);
            for (int round = 0; round < rounds; round++)
                piece(static_cast<std::uint32_t>(i * 1000 + round), 300, kept, 1200);
            meet(2 * threads_count);
        });
    for (std::thread &thread : threads)
        thread.join();
}

struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::vector<std::string>> items;

    void put(std::vector<std::string> item)
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return items.size() < 64; });
        items.push_back(std::move(item));
        changed.notify_all();
    }
    std::vector<std::string> take()
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !items.empty(); });
        std::vector<std::string> item = std::move(items.front());
        items.pop_front();
        changed.notify_all();
        return item;
    }
};

// Each stage takes, makes more of it, and passes it on: what one thread allocates the next one frees. Nothing ends it.
void stages(int stages_count, int items)
{
    std::vector<Queue> queues(static_cast<std::size_t>(stages_count));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < queues.size(); i++)
        threads.emplace_back([&, i] {
            const Alive self;
            for (int item = 0; item < items; item++) {
                std::vector<std::string> work;
                if (i > 0)
                    work = queues[i - 1].take();
                piece(static_cast<std::uint32_t>(item), 60, work, 120);
                if (i + 1 < queues.size())
                    queues[i].put(std::move(work));
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

void scheduler(int threads_count, int tasks)
{
    Queue queue;
    std::vector<std::thread> threads;
    for (int i = 0; i < threads_count; i++)
        threads.emplace_back([&, i] {
            const Alive self;
            std::vector<std::string> kept;
            for (;;) {
                std::vector<std::string> task = queue.take();
                if (task.empty())
                    return;
                piece(static_cast<std::uint32_t>(task[0].size() + static_cast<std::size_t>(i)), 100, kept, 300);
            }
        });
    for (int task = 0; task < tasks; task++)
        queue.put({std::string(static_cast<std::size_t>(20 + task % 500), 'x')});
    for (int i = 0; i < threads_count; i++)
        queue.put({});
    for (std::thread &thread : threads)
        thread.join();
}

long status(const char *key)
{
    char line[256];
    long kib = 0;
    FILE *file = std::fopen("/proc/self/status", "r");
    while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
        if (std::strncmp(line, key, std::strlen(key)) == 0)
            kib = std::atol(line + std::strlen(key));
    if (file != nullptr)
        std::fclose(file);
    return kib;
}

// As replay/proof/settings_glibc.c counts them: a heap that begins with the address of an arena right behind.
int arenas()
{
    char line[512];
    int count = 1;
    const unsigned long heap_bytes = 64ul << 20;
    FILE *maps = std::fopen("/proc/self/maps", "r");
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long begin = 0, end = 0;
        if (std::strstr(line, " rw-p 00000000 00:00 0") == nullptr || std::sscanf(line, "%lx-%lx", &begin, &end) != 2)
            continue;
        for (unsigned long heap = (begin + heap_bytes - 1) / heap_bytes * heap_bytes; heap < end; heap += heap_bytes) {
            const unsigned long arena = *reinterpret_cast<const unsigned long *>(heap);
            count += arena > heap && arena - heap < 256;
        }
    }
    if (maps != nullptr)
        std::fclose(maps);
    return count;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string shape = argc > 1 ? argv[1] : "pool";
    const int scale = argc > 2 ? std::atoi(argv[2]) : 1;
    const long begin = status("VmRSS:");
    if (shape == "requests")
        requests(1500 / scale);
    else if (shape == "pool")
        pool(40, 100 / scale);
    else if (shape == "pipeline")
        stages(6, 6000 / scale);
    else if (shape == "scheduler")
        scheduler(64, 8000 / scale);
    else
        return 2;
    std::printf("{\"peak_kib\": %ld, \"arenas\": %d, \"threads\": %d, \"shared_kib\": %ld}\n", status("VmHWM:") - begin, arenas(),
                alive_most.load(), status("RssShmem:"));
    return 0;
}
