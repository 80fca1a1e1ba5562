// pipeline.cc - a multi-threaded C++ program whose threads take each other's blocks over, in several sizes.
//
// Producers push strings through one queue, consumers delete them: the allocator hands a block that one thread
// deleted to the next that asks, at once and for another size of the same class. Prints a checksum.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

constexpr int PRODUCERS = 3, CONSUMERS = 2;

struct Queue {
    std::mutex mutex;
    std::deque<std::unique_ptr<std::string>> items;
    int producing = PRODUCERS;
};

void produce(Queue &queue, std::uint32_t state, int rounds)
{
    std::map<std::uint32_t, std::string> own;
    for (int i = 0; i < rounds; i++) {
        state = state * 1664525u + 1013904223u;
        own[state >> 20] = std::string((state >> 8) % 300, 'x');
        if ((state >> 16) % 3 == 0)
            own.erase(own.begin());
        std::lock_guard<std::mutex> lock(queue.mutex);
        queue.items.push_back(std::make_unique<std::string>((state >> 12) % 100, 'q'));
    }
    std::lock_guard<std::mutex> lock(queue.mutex);
    queue.producing--;
}

void consume(Queue &queue, std::atomic<std::uint64_t> &sum)
{
    std::map<std::size_t, std::vector<int>> seen;
    for (int taken = 0;;) {
        std::unique_ptr<std::string> item;
        {
            std::lock_guard<std::mutex> lock(queue.mutex);
            if (!queue.items.empty()) {
                item = std::move(queue.items.front());
                queue.items.pop_front();
            } else if (queue.producing == 0) {
                return;
            }
        }
        if (item) {
            seen[item->size()].push_back(taken++);
            sum += item->size();
        } else {
            std::this_thread::yield();
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 50000;
    std::atomic<std::uint64_t> sum{0};
    std::vector<std::thread> threads;
    Queue queue;
    for (int i = 0; i < PRODUCERS; i++)
        threads.emplace_back([&queue, i, rounds] { produce(queue, std::uint32_t(i) * 7919u + 1u, rounds); });
    for (int i = 0; i < CONSUMERS; i++)
        threads.emplace_back([&queue, &sum] { consume(queue, sum); });
    for (std::thread &thread : threads)
        thread.join();
    std::printf("sum %llu\n", static_cast<unsigned long long>(sum.load()));
    return 0;
}
