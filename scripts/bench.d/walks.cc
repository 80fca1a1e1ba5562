// walks - C++ programs that allocate, change and then walk: map, hash, list, tree, graph or words.
//
// usage: walks KIND
// Each prints a checksum, does the same every time, and spends most of its time in code of its own: what an allocator's
// placement speeds up or slows down. For scripts/bench placement.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

static uint64_t state = 1;

static uint32_t pick(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return static_cast<uint32_t>((state >> 33) % below);
}

static uint64_t map()
{
    std::map<uint32_t, std::string> all;
    uint64_t sum = 0;
    for (int i = 0; i < 200000; i++)
        all[pick(100000)] = std::string(8 + pick(60), 'x');
    for (int i = 0; i < 300000; i++) {
        const uint32_t key = pick(100000);
        if (i % 3 == 0)
            all.erase(key);
        else
            all[key] = std::string(8 + pick(60), 'y');
    }
    for (int turn = 0; turn < 8; turn++)
        for (const auto &[key, value] : all)
            sum += key ^ value[value.size() / 2];
    return sum;
}

static uint64_t hash()
{
    std::unordered_map<uint32_t, std::vector<uint32_t>> all;
    uint64_t sum = 0;
    for (int i = 0; i < 600000; i++)
        all[pick(60000)].push_back(i);
    for (int i = 0; i < 30000; i++)
        all.erase(pick(60000));
    for (int turn = 0; turn < 60; turn++)
        for (const auto &[key, list] : all)
            sum += key ^ list.back();
    for (int i = 0; i < 500000; i++)
        if (auto found = all.find(pick(60000)); found != all.end())
            sum += found->second.front();
    return sum;
}

// Lists of nodes that were made turn by turn: neighbours in a list are not neighbours in time.
static uint64_t list()
{
    std::vector<std::list<uint64_t>> all(500);
    uint64_t sum = 0;
    for (int i = 0; i < 400000; i++)
        all[pick(500)].push_back(i);
    for (int turn = 0; turn < 20; turn++) {
        for (auto &one : all) {
            for (uint64_t value : one)
                sum += value;
            for (int i = 0; i < 20 && !one.empty(); i++)
                one.pop_front();
        }
        for (int i = 0; i < 10000; i++)
            all[pick(500)].push_back(i);
    }
    return sum;
}

struct node {
    std::unique_ptr<node> left, right;
    uint64_t value = 1;
};

static std::unique_ptr<node> grow(int depth)
{
    auto made = std::make_unique<node>();
    if (depth > 0) {
        made->left = grow(depth - 1);
        made->right = grow(depth - 1);
    }
    return made;
}

static uint64_t count(const node *at)
{
    return at == nullptr ? 0 : at->value + count(at->left.get()) + count(at->right.get());
}

static uint64_t tree()
{
    const auto kept = grow(16);
    uint64_t sum = 0;
    for (int turn = 0; turn < 800; turn++) {
        const auto gone = grow(12 + turn % 3);
        sum += count(gone.get()) + count(kept.get());
    }
    return sum;
}

struct place {
    std::vector<place *> next;
    std::string name;
};

static uint64_t graph()
{
    std::vector<std::unique_ptr<place>> all;
    uint64_t sum = 0;
    for (int i = 0; i < 60000; i++) {
        all.push_back(std::make_unique<place>());
        all.back()->name = "place number " + std::to_string(i);
        for (int k = 0; k < 4; k++)
            all.back()->next.push_back(all[pick(static_cast<uint32_t>(all.size()))].get());
    }
    for (int turn = 0; turn < 180; turn++)
        for (const auto &one : all)
            for (const place *other : one->next)
                sum += other->name.size() + static_cast<uint64_t>(other->name[6]);
    return sum;
}

static uint64_t words()
{
    std::map<std::string, std::unique_ptr<std::vector<std::string>>> index;
    uint64_t sum = 0;
    for (int i = 0; i < 150000; i++) {
        auto &list = index["the word with the number " + std::to_string(pick(20000))];
        if (list == nullptr || list->size() > 12)
            list = std::make_unique<std::vector<std::string>>();
        list->push_back("line " + std::to_string(i) + " of the long text");
    }
    for (int turn = 0; turn < 12; turn++)
        for (const auto &[word, lines] : index)
            for (const auto &line : *lines)
                sum += line.size() + static_cast<uint64_t>(word[word.size() - 1] ^ line[5]);
    return sum;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t (*run)();
    } kinds[] = {{"map", map}, {"hash", hash}, {"list", list}, {"tree", tree}, {"graph", graph}, {"words", words}};
    for (const auto &kind : kinds)
        if (argc == 2 && strcmp(argv[1], kind.name) == 0)
            return printf("%s %llu\n", kind.name, static_cast<unsigned long long>(kind.run())) < 0;
    fprintf(stderr, "usage: walks map|hash|list|tree|graph|words\n");
    return 2;
}
