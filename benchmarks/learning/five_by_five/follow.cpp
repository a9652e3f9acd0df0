// Follow every game that a player of 5,5,4 can play in one seat, and replace the moves that lose.
//
//     follow play WEIGHTS SEAT LOST OUT       the search; LOST is what an earlier one found, or - for nothing
//     follow safe POSITIONS QUESTIONS OUT     which moves lead to these positions alone
//
// The search goes in depth. In each position the player makes the move that its network values most, and every reply is
// followed. Where a move loses, the next one is tried, and where all lose, the position is lost, and with it the move
// that led there. So what is called lost is lost against any player, and if the search ends, its moves never lose: none
// of the positions reached is lost.
//
// Positions are those of the player's image of the board: the one whose cells, read as a number in base 3, are smallest.
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

using Board = uint32_t;  // one bit a cell

constexpr int ROWS = 5, CELLS = 25, K = 4, SYMMETRIES = 8, LOW = 13;
constexpr Board FULL = (1u << CELLS) - 1;
constexpr uint32_t NOBODY = ~0u;
constexpr uint8_t NONE = 255;

// The rules

std::vector<Board> lines;
std::vector<std::array<int, K>> line_cells;
std::vector<int> lines_of_cell[CELLS];
Board low_image[SYMMETRIES][1 << LOW], high_image[SYMMETRIES][1 << (CELLS - LOW)];
uint64_t low_number[SYMMETRIES][1 << LOW], high_number[SYMMETRIES][1 << (CELLS - LOW)];

void find_lines() {
    const int steps[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    for (int row = 0; row < ROWS; row++)
        for (int col = 0; col < ROWS; col++)
            for (const auto& step : steps) {
                int last_row = row + step[0] * (K - 1), last_col = col + step[1] * (K - 1);
                if (last_row < 0 || last_row >= ROWS || last_col < 0 || last_col >= ROWS) continue;
                Board line = 0;
                std::array<int, K> cells;
                for (int i = 0; i < K; i++) {
                    cells[i] = (row + step[0] * i) * ROWS + col + step[1] * i;
                    line |= 1u << cells[i];
                    lines_of_cell[cells[i]].push_back(lines.size());
                }
                lines.push_back(line);
                line_cells.push_back(cells);
            }
}

void fill_images() {
    uint64_t power[CELLS] = {1};
    for (int i = 1; i < CELLS; i++) power[i] = 3 * power[i - 1];
    for (int symmetry = 0; symmetry < SYMMETRIES; symmetry++) {
        int goes_to[CELLS];
        for (int cell = 0; cell < CELLS; cell++) {
            int row = cell / ROWS, col = cell % ROWS;
            if (symmetry & 1) row = ROWS - 1 - row;
            if (symmetry & 2) col = ROWS - 1 - col;
            if (symmetry & 4) std::swap(row, col);
            goes_to[cell] = row * ROWS + col;
        }
        auto fill = [&](Board* image, uint64_t* number, int first, int cells) {
            for (Board bits = 0; bits < 1u << cells; bits++)
                for (int i = 0; i < cells; i++)
                    if (bits >> i & 1) {
                        image[bits] |= 1u << goes_to[first + i];
                        number[bits] += power[goes_to[first + i]];
                    }
        };
        fill(low_image[symmetry], low_number[symmetry], 0, LOW);
        fill(high_image[symmetry], high_number[symmetry], LOW, CELLS - LOW);
    }
}

struct Position {
    Board mine, theirs;
    uint64_t key() const { return uint64_t(mine) << CELLS | theirs; }
    Board empty() const { return FULL & ~(mine | theirs); }
    int moves() const { return std::popcount(mine); }
};

Position image(Position position) {
    const Board lowest = (1 << LOW) - 1;
    auto [mine, theirs] = position;
    uint64_t least = ~0ull;
    int best = 0;
    for (int g = 0; g < SYMMETRIES; g++) {
        uint64_t number = low_number[g][mine & lowest] + high_number[g][mine >> LOW] +
                          2 * (low_number[g][theirs & lowest] + high_number[g][theirs >> LOW]);
        if (number < least) least = number, best = g;
    }
    return {low_image[best][mine & lowest] | high_image[best][mine >> LOW],
            low_image[best][theirs & lowest] | high_image[best][theirs >> LOW]};
}

bool can_lose(Board mine) {
    return std::any_of(lines.begin(), lines.end(), [&](Board line) { return !(line & mine); });
}

Board completing(Board marks, Board empty) {
    Board cells = 0;
    for (Board line : lines) {
        Board missing = line & ~marks;
        if (std::has_single_bit(missing)) cells |= missing & empty;
    }
    return cells;
}

// The network: MessageNetwork of selfplay.dqn.network

struct Layer {
    int outputs = 0, inputs = 0;
    std::vector<float> weights, bias;  // weights [inputs][outputs]
};

struct Network {
    int rounds, width;
    std::vector<Layer> line, message, cell, hidden;
    Layer mean, output;
};

Network network;

Layer read_layer(FILE* file) {
    int header[3];
    fread(header, 4, 3, file);
    Layer layer{header[0], header[1]};
    std::vector<float> weights(layer.outputs * layer.inputs);
    fread(weights.data(), 4, weights.size(), file);
    layer.weights.resize(weights.size());
    for (int i = 0; i < layer.outputs; i++)
        for (int j = 0; j < layer.inputs; j++) layer.weights[j * layer.outputs + i] = weights[i * layer.inputs + j];
    layer.bias.assign(layer.outputs, 0);
    if (header[2]) fread(layer.bias.data(), 4, layer.outputs, file);
    return layer;
}

Network read_network(const char* path) {
    FILE* file = fopen(path, "rb");
    int header[3];
    fread(header, 4, 3, file);
    Network read{header[0], header[1]};
    for (int i = 0; i < read.rounds; i++) {
        read.line.push_back(read_layer(file));
        read.message.push_back(read_layer(file));
        read.cell.push_back(read_layer(file));
    }
    read.mean = read_layer(file);
    for (int i = 0; i < header[2]; i++) read.hidden.push_back(read_layer(file));
    read.output = read_layer(file);
    fclose(file);
    return read;
}

constexpr int TOGETHER = 8;  // boards in one pass
constexpr float TIE_BREAK = 1e-4f;

// out [rows, outputs] = in [rows, inputs] * weights + bias, added to what is there with ADD. Rows come in fours, outputs
// in sixteens.
template <bool ADD>
void apply(const Layer& layer, const float* in, float* out, int rows) {
    const int outputs = layer.outputs, inputs = layer.inputs;
    for (int first = 0; first < outputs; first += 16)
        for (int row = 0; row < rows; row += 4) {
            __m256 sums[4][2];
            for (int i = 0; i < 4; i++)
                for (int half = 0; half < 2; half++) {
                    sums[i][half] = _mm256_loadu_ps(&layer.bias[first + 8 * half]);
                    if (ADD) {
                        const float* before = out + (row + i) * outputs + first + 8 * half;
                        sums[i][half] = _mm256_add_ps(_mm256_loadu_ps(before), sums[i][half]);
                    }
                }
            for (int j = 0; j < inputs; j++) {
                const float* weights = &layer.weights[j * outputs + first];
                const __m256 left = _mm256_loadu_ps(weights), right = _mm256_loadu_ps(weights + 8);
                for (int i = 0; i < 4; i++) {
                    const __m256 input = _mm256_broadcast_ss(in + (row + i) * inputs + j);
                    sums[i][0] = _mm256_fmadd_ps(input, left, sums[i][0]);
                    sums[i][1] = _mm256_fmadd_ps(input, right, sums[i][1]);
                }
            }
            for (int i = 0; i < 4; i++)
                for (int half = 0; half < 2; half++)
                    _mm256_storeu_ps(out + (row + i) * outputs + first + 8 * half, sums[i][half]);
        }
}

void relu(std::vector<float>& features, size_t count) {
    for (size_t i = 0; i < count; i++) features[i] = std::max(0.f, features[i]);
}

using Values = std::array<float, CELLS>;

// The values of the mover's cells in at most TOGETHER positions.
void value(const Position* positions, int count, Values* values) {
    const int boards = TOGETHER, width = network.width, all_lines = lines.size();
    static std::vector<float> cells, next, sums, knowledge, messages, mean, shared, features, after;
    const size_t most = size_t(std::max(all_lines, CELLS)) * boards * 256;
    for (auto* each : {&cells, &next, &sums, &knowledge, &messages, &mean, &shared, &features, &after}) each->resize(most);
    for (int cell = 0; cell < CELLS; cell++)
        for (int board = 0; board < boards; board++) {
            const Position& position = positions[board < count ? board : 0];
            float* planes = &cells[(cell * boards + board) * 3];
            planes[0] = position.empty() >> cell & 1;
            planes[1] = position.mine >> cell & 1;
            planes[2] = position.theirs >> cell & 1;
        }
    for (int round = 0; round < network.rounds; round++) {
        const int in = boards * (round ? width : 3), out = boards * width;
        for (int line = 0; line < all_lines; line++) {
            const auto& of = line_cells[line];
            for (int i = 0; i < in; i++)
                sums[line * in + i] =
                    cells[of[0] * in + i] + cells[of[1] * in + i] + cells[of[2] * in + i] + cells[of[3] * in + i];
        }
        apply<false>(network.line[round], sums.data(), knowledge.data(), all_lines * boards);
        relu(knowledge, size_t(all_lines) * out);
        apply<false>(network.message[round], knowledge.data(), messages.data(), all_lines * boards);
        for (int cell = 0; cell < CELLS; cell++) {
            float* sum = &next[cell * out];
            std::fill(sum, sum + out, 0.f);
            for (int line : lines_of_cell[cell])
                for (int i = 0; i < out; i++) sum[i] += messages[line * out + i];
        }
        apply<true>(network.cell[round], cells.data(), next.data(), CELLS * boards);
        relu(next, size_t(CELLS) * out);
        if (round)
            for (int i = 0; i < CELLS * out; i++) next[i] += cells[i];
        std::swap(cells, next);
    }
    const int out = boards * width;
    for (int i = 0; i < out; i++) {
        float sum = 0;
        for (int cell = 0; cell < CELLS; cell++) sum += cells[cell * out + i];
        mean[i] = sum / CELLS;
    }
    apply<false>(network.mean, mean.data(), shared.data(), boards);
    const int first = boards * network.hidden[0].outputs;
    for (int cell = 0; cell < CELLS; cell++) std::copy_n(shared.begin(), first, &features[cell * first]);
    apply<true>(network.hidden[0], cells.data(), features.data(), CELLS * boards);
    for (size_t i = 1; i < network.hidden.size(); i++) {
        relu(features, size_t(CELLS) * boards * network.hidden[i - 1].outputs);
        apply<false>(network.hidden[i], features.data(), after.data(), CELLS * boards);
        std::swap(features, after);
    }
    const int last = network.hidden.back().outputs;
    relu(features, size_t(CELLS) * boards * last);
    for (int cell = 0; cell < CELLS; cell++)
        for (int board = 0; board < count; board++) {
            float sum = network.output.bias[0];
            for (int i = 0; i < last; i++)
                sum += features[(cell * boards + board) * last + i] * network.output.weights[i];
            values[board][cell] = sum - TIE_BREAK * cell;
        }
}

// The search

struct Entry {
    Position position;
    Board lost_moves;      // moves that are known to lose
    uint8_t chosen, move;  // what the network values most, and of the moves that are not known to lose; or NONE
    uint8_t lost, asked, reached, waiting, tried;
    uint32_t parent;      // the position from which it was wanted last, and by which move
    uint8_t parent_move;
};

struct Known {
    Board lost_moves;
    uint8_t lost;
};

std::vector<Entry> entries;
std::unordered_map<uint64_t, uint32_t> number_of;
std::unordered_map<uint64_t, Known> known;
std::vector<uint32_t> waiting[CELLS / 2 + 2];  // by the number of moves made, the newest last
std::vector<uint32_t> newly_lost;

uint32_t find_or_add(Position position) {
    auto [place, added] = number_of.try_emplace(position.key(), entries.size());
    if (added) {
        Entry entry{};
        entry.position = position, entry.chosen = entry.move = entry.parent_move = NONE, entry.parent = NOBODY;
        if (auto found = known.find(position.key()); found != known.end())
            entry.lost_moves = found->second.lost_moves, entry.lost = found->second.lost;
        entries.push_back(entry);
    }
    return place->second;
}

void wait(uint32_t number) {
    Entry& entry = entries[number];
    if (entry.waiting) return;
    entry.waiting = true;
    waiting[entry.position.moves()].push_back(number);
}

void give_up_move(uint32_t number) {
    Entry& entry = entries[number];
    entry.lost_moves |= 1u << entry.move;
    entry.tried = true;
    wait(number);
}

enum Want { NOT_WANTED, WANTED, DOUBTED };

// Whether the moves that lead to a position are still those of the player; doubted, if one of them was changed.
Want wanted(uint32_t number) {
    if (entries[number].lost) return NOT_WANTED;
    Want want = entries[number].tried ? DOUBTED : WANTED;
    while (entries[number].parent != NOBODY) {
        const Entry& parent = entries[entries[number].parent];
        if (parent.lost || !parent.asked || parent.move != entries[number].parent_move) return NOT_WANTED;
        if (parent.lost_moves >> parent.move & 1) return NOT_WANTED;
        if (parent.tried) want = DOUBTED;
        number = entries[number].parent;
    }
    return want;
}

// Exclude moves that lose at once, and ask the network about the others.
void ask(const std::vector<uint32_t>& numbers) {
    std::vector<uint32_t> open;
    for (uint32_t number : numbers) {
        Entry& entry = entries[number];
        if (entry.lost) continue;
        const Board empty = entry.position.empty();
        if (!completing(entry.position.mine, empty)) {
            const Board threats = completing(entry.position.theirs, empty);
            if (std::popcount(threats) > 1) entry.lost_moves |= empty;
            if (std::popcount(threats) == 1) entry.lost_moves |= empty & ~threats;
            if ((entry.lost_moves & empty) == empty) {
                entry.asked = true, entry.move = NONE;
                continue;
            }
        }
        open.push_back(number);
    }
    for (size_t start = 0; start < open.size(); start += TOGETHER) {
        Position positions[TOGETHER];
        Values values[TOGETHER];
        const int count = std::min<size_t>(TOGETHER, open.size() - start);
        for (int i = 0; i < count; i++) positions[i] = entries[open[start + i]].position;
        value(positions, count, values);
        for (int i = 0; i < count; i++) {
            Entry& entry = entries[open[start + i]];
            const Board wins = completing(positions[i].mine, positions[i].empty());
            entry.asked = true, entry.chosen = entry.move = NONE;
            for (int cell = 0; cell < CELLS; cell++) {
                if (!((wins ? wins : positions[i].empty()) >> cell & 1)) continue;
                const float worth = values[i][cell];
                if (entry.chosen == NONE || worth > values[i][entry.chosen]) entry.chosen = cell;
                if (!wins && entry.lost_moves >> cell & 1) continue;
                if (entry.move == NONE || worth > values[i][entry.move]) entry.move = cell;
            }
        }
    }
}

// Call visit(position after a reply, its cell) for each reply after which the player is to move, until it returns false.
template <class Visit>
void replies(Board mine, Board theirs, Visit visit) {
    for (Board rest = FULL & ~(mine | theirs); rest; rest &= rest - 1) {
        const Board reply = rest & -rest;
        if ((mine | theirs | reply) == FULL) continue;
        if (!visit(image({mine, theirs | reply}), std::countr_zero(reply))) return;
    }
}

// The larger, the more marks the opponent has in lines that it can still complete.
float danger(Position position) {
    float sum = 0;
    for (Board line : lines)
        if (!(line & position.mine)) sum += 1 << 3 * std::popcount(line & position.theirs);
    return sum;
}

// Follow the move of a position. Where it is doubted, `opponent` are the values of the replies.
void follow_move(uint32_t number, const Values* opponent) {
    const Entry entry = entries[number];
    if (entry.lost) return;
    if (entry.move == NONE) {
        entries[number].lost = true;
        newly_lost.push_back(number);
        return;
    }
    const auto [mine, theirs] = entry.position;
    const Board after = mine | 1u << entry.move, empty = FULL & ~(after | theirs);
    if (completing(mine, entry.position.empty()) >> entry.move & 1 || !can_lose(after)) return;
    if (completing(theirs, empty)) return give_up_move(number);
    const Board threats = completing(after, empty);
    bool loses = false;
    std::vector<std::pair<float, uint32_t>> next;
    replies(after, theirs, [&](Position position, int cell) {
        const uint32_t child = find_or_add(position);
        loses = entries[child].lost;
        if (!loses && !entries[child].asked) {
            entries[child].parent = number, entries[child].parent_move = entry.move;
            float first = opponent ? (*opponent)[cell] : danger(position);
            if (threats && !(threats >> cell & 1)) first = -1e6f;  // it does not answer a threat
            if (!entries[child].waiting) next.push_back({first, child});
        }
        return !loses;
    });
    if (loses) return give_up_move(number);
    std::sort(next.begin(), next.end());
    for (auto [_, child] : next) wait(child);
}

// Give up the moves that lead to positions that have turned out to be lost.
void go_back() {
    while (!newly_lost.empty()) {
        const Position lost = entries[newly_lost.back()].position;
        newly_lost.pop_back();
        for (Board own = lost.mine; own; own &= own - 1)
            for (Board other = lost.theirs; other; other &= other - 1) {
                const auto found = number_of.find(image({lost.mine & ~(own & -own), lost.theirs & ~(other & -other)}).key());
                if (found == number_of.end()) continue;
                const Entry& before = entries[found->second];
                if (!before.asked || before.lost || before.move == NONE || before.lost_moves >> before.move & 1) continue;
                bool leads_there = false;
                replies(before.position.mine | 1u << before.move, before.position.theirs, [&](Position position, int) {
                    leads_there = position.key() == lost.key();
                    return !leads_there;
                });
                if (leads_there) give_up_move(found->second);
            }
    }
}

constexpr int ASKED_TOGETHER = 16;

void search() {
    while (true) {
        int moves = std::size(waiting) - 1;
        while (moves >= 0 && waiting[moves].empty()) moves--;
        if (moves < 0) return;
        std::vector<uint32_t> numbers, doubted;
        while (!waiting[moves].empty() && numbers.size() < ASKED_TOGETHER) {
            const uint32_t number = waiting[moves].back();
            waiting[moves].pop_back();
            entries[number].waiting = false;
            const Want want = wanted(number);
            if (want != NOT_WANTED) numbers.push_back(number);
            if (want == DOUBTED) doubted.push_back(number);
        }
        ask(numbers);
        std::erase_if(doubted, [](uint32_t number) { return entries[number].lost || entries[number].move == NONE; });
        std::unordered_map<uint32_t, Values> opponents;
        for (size_t start = 0; start < doubted.size(); start += TOGETHER) {
            Position positions[TOGETHER];
            Values values[TOGETHER];
            const int count = std::min<size_t>(TOGETHER, doubted.size() - start);
            for (int i = 0; i < count; i++) {
                const Entry& entry = entries[doubted[start + i]];
                positions[i] = {entry.position.theirs, entry.position.mine | 1u << entry.move};
            }
            value(positions, count, values);
            for (int i = 0; i < count; i++) opponents[doubted[start + i]] = values[i];
        }
        for (uint32_t number : numbers) {
            const auto found = opponents.find(number);
            follow_move(number, found == opponents.end() ? nullptr : &found->second);
        }
        go_back();
    }
}

// Mark the positions that the moves lead to, and return them; search on where one was not asked yet.
std::vector<uint32_t> reach(const std::vector<uint32_t>& roots) {
    while (true) {
        for (Entry& entry : entries) entry.reached = false;
        std::vector<uint32_t> reached = roots;
        bool missing = false;
        for (uint32_t root : roots) entries[root].reached = true;
        for (size_t i = 0; i < reached.size(); i++) {
            const uint32_t number = reached[i];
            const Entry& entry = entries[number];
            if (entry.lost) return {};
            const Board after = entry.position.mine | 1u << entry.move;
            const Board wins = completing(entry.position.mine, entry.position.empty());
            if (wins >> entry.move & 1 || !can_lose(after)) continue;
            replies(after, entry.position.theirs, [&](Position position, int) {
                const uint32_t child_number = number_of.at(position.key());
                Entry& child = entries[child_number];
                if (child.reached) return true;
                child.parent = number, child.parent_move = entry.move;
                if (child.asked) {
                    child.reached = true;
                    reached.push_back(child_number);
                } else {
                    missing = true;
                    wait(child_number);
                }
                return true;
            });
        }
        if (!missing) return reached;
        search();
    }
}

struct Row {
    Board mine, theirs, lost_moves;
    uint8_t chosen, move, lost, unused;
};

void write_rows(const std::string& path, const std::vector<Row>& rows) {
    FILE* file = fopen(path.c_str(), "wb");
    fwrite(rows.data(), sizeof(Row), rows.size(), file);
    fclose(file);
}

template <class T>
std::vector<T> read_rows(const char* path) {
    FILE* file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    std::vector<T> rows(ftell(file) / sizeof(T));
    rewind(file);
    fread(rows.data(), sizeof(T), rows.size(), file);
    fclose(file);
    return rows;
}

Row row_of(const Entry& entry) {
    return {entry.position.mine, entry.position.theirs, entry.lost_moves, entry.chosen, entry.move, entry.lost, 0};
}

void play(const char* weights, int seat, const char* lost, const std::string& out) {
    network = read_network(weights);
    if (strcmp(lost, "-") != 0)
        for (const Row& row : read_rows<Row>(lost)) known[Position{row.mine, row.theirs}.key()] = {row.lost_moves, row.lost};
    entries.reserve(1 << 23);
    number_of.reserve(1 << 23);
    std::vector<uint32_t> roots;
    if (seat == 0) roots = {find_or_add({0, 0})};
    for (int cell = 0; seat == 1 && cell < CELLS; cell++) roots.push_back(find_or_add(image({0, 1u << cell})));
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    for (uint32_t root : roots) wait(root);
    search();
    std::vector<Row> reached, found;
    int corrections = 0;
    for (uint32_t number : reach(roots)) {
        reached.push_back(row_of(entries[number]));
        corrections += entries[number].move != entries[number].chosen;
    }
    for (const Entry& entry : entries)
        if (entry.lost_moves || entry.lost) found.push_back(row_of(entry));
    for (const auto& [key, each] : known)
        if (!number_of.contains(key)) found.push_back({Board(key >> CELLS), Board(key & FULL), each.lost_moves, NONE, NONE, each.lost, 0});
    write_rows(out + ".reached", reached);
    write_rows(out + ".lost", found);
    printf("%zu positions, %d corrections\n", reached.size(), corrections);
}

void safe(const char* positions, const char* questions, const char* out) {
    std::vector<uint64_t> keys = read_rows<uint64_t>(positions);
    std::unordered_map<uint64_t, bool> held;
    held.reserve(keys.size());
    for (uint64_t key : keys) held[key] = true;
    std::vector<Board> answers;
    for (const auto& [mine, theirs] : read_rows<Position>(questions)) {
        const Board empty = FULL & ~(mine | theirs), wins = completing(mine, empty);
        Board moves = 0;
        for (Board rest = wins ? wins : empty; rest; rest &= rest - 1) {
            const Board move = rest & -rest, after = mine | move;
            bool holds = true;
            if (!wins && can_lose(after)) {
                holds = !completing(theirs, empty & ~move);
                if (holds)
                    replies(after, theirs, [&](Position position, int) { return holds = held.contains(position.key()); });
            }
            if (holds) moves |= move;
        }
        answers.push_back(moves);
    }
    FILE* file = fopen(out, "wb");
    fwrite(answers.data(), sizeof(Board), answers.size(), file);
    fclose(file);
}

int main(int count, char** words) {
    find_lines();
    fill_images();
    if (count == 6 && !strcmp(words[1], "play")) return play(words[2], atoi(words[3]), words[4], words[5]), 0;
    if (count == 5 && !strcmp(words[1], "safe")) return safe(words[2], words[3], words[4]), 0;
    fputs("usage: follow play WEIGHTS SEAT LOST OUT | follow safe POSITIONS QUESTIONS OUT\n", stderr);
    return 2;
}
