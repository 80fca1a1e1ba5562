// workers.cc - a multi-threaded C++ program that works: four threads make up text and count its words in maps of their own,
// which are merged while they go on. Strings and nodes die in other threads than made them. Prints a checksum.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

constexpr int THREADS = 4, BATCHES = 24;

using Counts = std::unordered_map<std::string, std::vector<std::uint32_t>>;

struct Index {
    std::mutex mutex;
    std::map<std::string, std::vector<std::uint32_t>> words;
};

std::uint32_t next(std::uint32_t &state)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

std::string make_text(std::uint32_t &state, int words)
{
    std::string text;
    for (int i = 0; i < words; i++) {
        const std::uint32_t word = next(state) % 1000 * (next(state) % 40 + 1);
        text += "word-number-" + std::to_string(word) + (word % 7 ? " " : "-and-a-longer-tail-behind-it ");
    }
    return text;
}

Counts count_words(const std::string &text, std::uint32_t page)
{
    Counts counts;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = text.find(' ', begin);
        counts[text.substr(begin, end - begin)].push_back(page);
        begin = end + 1;
    }
    return counts;
}

void work(Index &index, std::uint32_t state, int words)
{
    for (int batch = 0; batch < BATCHES; batch++) {
        Counts counts = count_words(make_text(state, words), static_cast<std::uint32_t>(batch));
        std::lock_guard<std::mutex> guard(index.mutex);
        for (auto &[word, pages] : counts) {
            auto &all = index.words[word];
            all.insert(all.end(), pages.begin(), pages.end());
            if (all.size() > 200)
                all = std::vector<std::uint32_t>(all.begin() + 100, all.end());
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    const int words = argc > 1 ? std::atoi(argv[1]) : 20000;
    Index index;
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([&index, i, words] { work(index, static_cast<std::uint32_t>(i) * 7919u + 1u, words); });
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%zu words\n", index.words.size());
    return 0;
}
