// A decoder's step, one position of a few rows through all layers, without a call into a library: the matrices of a step are so small
// that calling costs more than computing. models/layers/fused.py says what each field holds; float32. Threads are those of torch, which has
// loaded the same OpenMP before.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>
#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif
#if defined(_OPENMP)
#include <omp.h>
#endif

using Index = std::int64_t;
using V = float __attribute__((vector_size(64), aligned(4), may_alias));  // 16 numbers, wherever they stand
using Half = std::uint16_t;
constexpr Index WIDE = 16, PANEL = 2 * WIDE, AHEAD = 8 * WIDE, SOON = 64;  // SOON: weights of so many inputs later are asked for

struct Matrix {  // (⌈out / 32⌉, in, 32), in one of both
    const float* panels;
    const Half* halves;
    const float* bias;
    Index in, out;
};
struct Norm { const float *weight, *bias; };
struct Layer {
    Norm norm, cross_norm, feedforward_norm;
    Matrix in, out, cross_query, cross_source, cross_out, inner, outer;
};
struct Stack {
    const Layer* layers;
    Index n_layers, d_model, n_heads, behind, nats;  // behind: do norms stand behind the sublayers? nats: log p in place of logits?
    Norm norm;
    Matrix readout;
};
struct Head {  // where its keys and values stand, (row, d_head, slot): a ring, once all slots are taken
    float *keys, *values;
    Index row, room;  // from row to row; slots
};
struct Own {  // what a reader adds to a layer; null: nothing
    const Head* heads;
    const float *gain, *cross_gain;       // (row, head)
    const float *content, *positional;    // (channel): added to the query that meets keys, or distances
    const float *table;                   // (head or 1, d_head, distance), the nearest last
    const float *fade;                    // (head, distance): added to scores, the nearest last
    const float *cross_keys, *cross_values;  // (row, channel, slot)
    const float* places;                  // (position, channel): added to what the layer reads
    float keep[3];                        // what the residual path is multiplied by
};
struct State {
    const Own* own;
    const float* mask;  // (row, source): added to scores of the source
    Index rows, distances, shared, source, source_room;
    float scale;
};

static inline V load(const float* from) { return *reinterpret_cast<const V*>(from); }
#if defined(__AVX512F__)
constexpr bool HALVES = true;
static inline V load(const Half* from) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))); }
#elif defined(__F16C__)
constexpr bool HALVES = true;
static inline V load(const Half* from) {
    V found;
    for (int part = 0; part < 2; ++part) {
        const __m256 eight = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 8 * part)));
        std::memcpy(reinterpret_cast<float*>(&found) + 8 * part, &eight, sizeof eight);
    }
    return found;
}
#else
constexpr bool HALVES = false;
static inline V load(const Half*) { return V{}; }
#endif
static inline void store(float* to, V value) { *reinterpret_cast<V*>(to) = value; }

// Some threads at once, each with at least `least` of the rows: work(its first, how many, what to call to wait for the others).
template <typename Work>
static void shared(Index rows, Index least, Work work) {
#if defined(_OPENMP)
    const Index parts = std::clamp<Index>(rows / least, 1, omp_get_max_threads());
#pragma omp parallel num_threads(parts) if (parts > 1)
    {
        const Index part = omp_get_thread_num(), all = omp_get_num_threads();
        const Index begin = rows * part / all, end = rows * (part + 1) / all;
        const auto wait = [] {
#pragma omp barrier
        };
        work(begin, end - begin, wait);
    }
#else
    work(0, rows, [] {});
#endif
}

// y ← keep y + x Wᵀ + b of ROWS rows; every row adds up in the same order, however many there are.
template <int ROWS, typename Number>
static void product(const Matrix& m, const Number* w, const float* x, float* y, Index panel, float keep, bool relu) {
    w += panel * m.in * PANEL;
    V even[ROWS][2] = {}, odd[ROWS][2] = {};
    Index i = 0;
    for (; i + 1 < m.in; i += 2, w += 2 * PANEL) {
        __builtin_prefetch(w + SOON * PANEL), __builtin_prefetch(w + (SOON + 1) * PANEL);
        const V a = load(w), b = load(w + WIDE), c = load(w + PANEL), d = load(w + PANEL + WIDE);
        for (int r = 0; r < ROWS; ++r) {
            const float *at = x + r * m.in + i, first = at[0], second = at[1];
            even[r][0] += first * a, even[r][1] += first * b;
            odd[r][0] += second * c, odd[r][1] += second * d;
        }
    }
    if (i < m.in)
        for (int r = 0; r < ROWS; ++r) even[r][0] += x[r * m.in + i] * load(w), even[r][1] += x[r * m.in + i] * load(w + WIDE);
    const Index begin = panel * PANEL, count = std::min(PANEL, m.out - begin);
    for (int r = 0; r < ROWS; ++r) {
        float made[PANEL];
        for (int half = 0; half < 2; ++half)
            store(made + half * WIDE, even[r][half] + odd[r][half] + load(m.bias + begin + half * WIDE));
        float* to = y + r * m.out + begin;
        for (Index i = 0; i < count; ++i) {
            const float all = keep != 0 ? keep * to[i] + made[i] : made[i];
            to[i] = relu ? std::max(all, 0.0f) : all;
        }
    }
}

template <typename Number>
static void multiply(const Matrix& m, const Number* w, Index panel, Index end, Index rows, const float* x, float* y, float keep, bool relu) {
    for (; panel < end; ++panel) {
        Index r = 0;
        for (; r + 4 <= rows; r += 4) product<4>(m, w, x + r * m.in, y + r * m.out, panel, keep, relu);
        const float* from = x + r * m.in;
        float* to = y + r * m.out;
        if (rows - r == 3) product<3>(m, w, from, to, panel, keep, relu);
        if (rows - r == 2) product<2>(m, w, from, to, panel, keep, relu);
        if (rows - r == 1) product<1>(m, w, from, to, panel, keep, relu);
    }
}

// Some panels' outputs alone.
static void multiply(const Matrix& m, Index panel, Index end, Index rows, const float* x, float* y, float keep = 0, bool relu = false) {
    if (m.halves) multiply(m, m.halves, panel, end, rows, x, y, keep, relu);
    else multiply(m, m.panels, panel, end, rows, x, y, keep, relu);
}

static Index panels(const Matrix& m) { return (m.out + PANEL - 1) / PANEL; }

static void multiply(const Matrix& m, Index rows, const float* x, float* y, float keep = 0, bool relu = false) {
    multiply(m, 0, panels(m), rows, x, y, keep, relu);
}

static void normalise(const Norm& norm, Index rows, Index width, const float* x, float* y) {
    for (Index r = 0; r < rows; ++r, x += width, y += width) {
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (Index i = 0; i < width; ++i) sum += x[i];
        const float mean = sum / width;
#pragma omp simd reduction(+ : squares)
        for (Index i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
        const float by = 1 / std::sqrt(squares / width + 1e-5f);
#pragma omp simd
        for (Index i = 0; i < width; ++i) y[i] = (x[i] - mean) * by * norm.weight[i] + norm.bias[i];
    }
}

// exp(x) of x ≤ 0, within 2 ulp; 0 below −87 (Cephes' polynomial).
static inline float exponential(float x) {
    const float kept = x < -87.0f ? -87.0f : x, n = std::nearbyint(kept * 1.44269504f);
    const float f = (kept - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * f + 1.3981999507e-3f;
    p = p * f + 8.3334519073e-3f;
    p = p * f + 4.1665795894e-2f;
    p = p * f + 1.6666665459e-1f;
    p = p * f + 5.0000001201e-1f;
    p = p * f * f + f + 1;
    const std::int32_t power = (static_cast<std::int32_t>(n) + 127) << 23;
    float two;
    std::memcpy(&two, &power, sizeof two);
    return x < -87.0f ? 0.0f : p * two;
}

// score[j] = Σ_c query[c] from[c][j] of some keys: channels `stride` apart.
template <int PARTS>
static void scored(const float* query, const float* from, Index stride, Index d_head, float* score) {
    V found[PARTS] = {};
    for (Index c = 0; c < d_head; ++c)
        for (int part = 0; part < PARTS; ++part) found[part] += query[c] * load(from + c * stride + part * WIDE);
    for (int part = 0; part < PARTS; ++part) store(score + part * WIDE, found[part]);
}

// The same of so many keys, and of some behind them.
static void scored(const float* query, const float* from, Index stride, Index d_head, Index count, float* score) {
    Index j = 0;
    for (; j + 4 * WIDE < count; j += 8 * WIDE) scored<8>(query, from + j, stride, d_head, score + j);
    for (; j < count; j += 2 * WIDE) scored<2>(query, from + j, stride, d_head, score + j);
}

// softmax in place; false where nothing may be seen.
static bool weighed(float* score, Index count) {
    float highest = -std::numeric_limits<float>::infinity(), sum = 0;
#pragma omp simd reduction(max : highest)
    for (Index j = 0; j < count; ++j) highest = std::max(highest, score[j]);
    if (highest == -std::numeric_limits<float>::infinity()) return false;
#pragma omp simd reduction(+ : sum)
    for (Index j = 0; j < count; ++j) sum += score[j] = exponential(score[j] - highest);
    const float by = 1 / sum;
#pragma omp simd
    for (Index j = 0; j < count; ++j) score[j] *= by;
    return true;
}

// The same, and 0 up to the next multiple of 16.
static bool softmax(float* score, Index count) {
    for (; count % WIDE; ++count) score[count] = -std::numeric_limits<float>::infinity();
    return weighed(score, count);
}

// output[c] = gain Σ_j score[j] from[c][j] of some channels.
template <int PARTS>
static void mixed(const float* score, const float* from, Index stride, Index count, float gain, float* output) {
    V found[PARTS] = {};
    for (Index j = 0; j < count; j += WIDE)
        for (int part = 0; part < PARTS; ++part) found[part] += load(score + j) * load(from + part * stride + j);
    for (int part = 0; part < PARTS; ++part) {
        using Eight = float __attribute__((vector_size(32)));
        using Four = float __attribute__((vector_size(16)));
        Eight eights[2];
        std::memcpy(eights, &found[part], sizeof eights);
        eights[0] += eights[1];
        Four fours[2];
        std::memcpy(fours, &eights[0], sizeof fours);
        fours[0] += fours[1];
        output[part] = gain * ((fours[0][0] + fours[0][2]) + (fours[0][1] + fours[0][3]));
    }
}

// The same of all channels, d_head a multiple of 4.
static void mixed(const float* score, const float* from, Index stride, Index d_head, Index count, float gain, float* output) {
    Index c = 0;
    for (; c + 8 <= d_head; c += 8) mixed<8>(score, from + c * stride, stride, count, gain, output + c);
    if (c < d_head) mixed<4>(score, from + c * stride, stride, count, gain, output + c);
}

// x ← x − log Σ exp(x)
static void log_softmax(Index count, float* x) {
    float highest = -std::numeric_limits<float>::infinity(), sum = 0;
#pragma omp simd reduction(max : highest)
    for (Index i = 0; i < count; ++i) highest = std::max(highest, x[i]);
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < count; ++i) sum += exponential(x[i] - highest);
    const float all = highest + std::log(sum);
#pragma omp simd
    for (Index i = 0; i < count; ++i) x[i] -= all;
}

struct Room {
    std::vector<float> normed, projected, attended, hidden, score, distant, query;
};

// Some rows of a step from `top` on; x and logits are theirs.
static void read(const Stack* stack, const State* state, Index top, Index rows, float* x, Index first, Index slot, Index place, float* logits) {
    thread_local Room room;
    const Index d = stack->d_model, heads = stack->n_heads, d_head = d / heads;
    room.normed.resize(rows * d), room.projected.resize(rows * 3 * d), room.attended.resize(rows * d), room.query.resize(2 * d_head);
    Index most = state->source;
    for (Index l = 0; l < stack->n_layers; ++l)
        for (Index h = 0; h < heads; ++h) most = std::max(most, state->own[l].heads[h].room);
    room.score.resize(most + AHEAD), room.distant.resize(most + AHEAD);
    float *normed = room.normed.data(), *projected = room.projected.data(), *attended = room.attended.data();
    float *score = room.score.data(), *distant = room.distant.data();
    float *content = room.query.data(), *positional = content + d_head;
    const bool behind = stack->behind;
    for (Index l = 0; l < stack->n_layers; ++l) {
        const Layer& layer = stack->layers[l];
        const Own& own = state->own[l];
        if (own.places)
            for (Index r = 0; r < rows; ++r)
                for (Index c = 0; c < d; ++c) x[r * d + c] += own.places[place * d + c];
        const float* read = x;
        if (!behind) normalise(layer.norm, rows, d, x, normed), read = normed;
        multiply(layer.in, rows, read, projected);
        for (Index r = 0; r < rows; ++r) {
            const float* made = projected + r * 3 * d;
            for (Index h = 0; h < heads; ++h) {
                const Head& head = own.heads[h];
                const Index from = h * d_head, newest = slot % head.room, begin = slot < head.room ? first : 0;
                const Index count = std::min(slot + 1 - begin, head.room), far = state->distances - count;
                float *keys = head.keys + (top + r) * head.row, *values = head.values + (top + r) * head.row;
                for (Index c = 0; c < d_head; ++c) {
                    keys[c * head.room + newest] = made[d + from + c], values[c * head.room + newest] = made[2 * d + from + c];
                    content[c] = state->scale * (made[from + c] + (own.content ? own.content[from + c] : 0));
                    if (own.table) positional[c] = state->scale * (made[from + c] + (own.positional ? own.positional[from + c] : 0));
                }
                scored(content, keys + begin, head.room, d_head, count, score);
                if (own.table) {  // by distance, the farthest first: in a ring it stands behind the newest
                    scored(positional, own.table + (state->shared ? 0 : from * state->distances) + far, state->distances, d_head, count, distant);
                    if (own.fade)
                        for (Index j = 0; j < count; ++j) distant[j] += own.fade[h * state->distances + far + j];
                    const Index older = newest + 1 - begin, newer = count - older;
                    for (Index j = 0; j < older; ++j) score[j] += distant[newer + j];
                    for (Index j = 0; j < newer; ++j) score[older + j] += distant[j];
                }
                softmax(score, count);
                const float gain = own.gain ? own.gain[(top + r) * heads + h] : 1;
                mixed(score, values + begin, head.room, d_head, count, gain, attended + r * d + from);
            }
        }
        multiply(layer.out, rows, attended, x, own.keep[0]);
        if (behind) normalise(layer.norm, rows, d, x, x);
        if (layer.cross_query.out) {
            if (!behind) normalise(layer.cross_norm, rows, d, x, normed);
            multiply(layer.cross_query, rows, read, projected);
            for (Index r = 0; r < rows; ++r)
                for (Index h = 0; h < heads; ++h) {
                    const Index from = h * d_head, stride = state->source_room, count = state->source;
                    for (Index c = 0; c < d_head; ++c) content[c] = state->scale * projected[r * d + from + c];
                    scored(content, own.cross_keys + ((top + r) * d + from) * stride, stride, d_head, count, score);
                    if (state->mask)
                        for (Index j = 0; j < count; ++j) score[j] += state->mask[(top + r) * count + j];
                    float* to = attended + r * d + from;
                    const float gain = own.cross_gain ? own.cross_gain[(top + r) * heads + h] : 1;
                    if (softmax(score, count)) mixed(score, own.cross_values + ((top + r) * d + from) * stride, stride, d_head, count, gain, to);
                    else std::fill(to, to + d_head, 0.0f);
                }
            multiply(layer.cross_out, rows, attended, x, own.keep[1]);
            if (behind) normalise(layer.cross_norm, rows, d, x, x);
        }
        if (layer.inner.out) {
            room.hidden.resize(rows * layer.inner.out);
            if (!behind) normalise(layer.feedforward_norm, rows, d, x, normed);
            multiply(layer.inner, rows, read, room.hidden.data(), 0, true);
            multiply(layer.outer, rows, room.hidden.data(), x, own.keep[2]);
            if (behind) normalise(layer.feedforward_norm, rows, d, x, x);
        }
    }
    const float* last = x;
    if (stack->norm.weight) normalise(stack->norm, rows, d, x, normed), last = normed;
    multiply(stack->readout, rows, last, logits);
    for (Index r = 0; r < rows && stack->nats; ++r) log_softmax(stack->readout.out, logits + r * stack->readout.out);
}

// What `rows` queries, `from` apart, take from `count` keys and values, (channel, room): (row, d_model).
static void attended(Index rows, Index d, Index heads, const float* query, Index from, const float* keys, const float* values, Index room,
                     Index count, float scale, float* to) {
    thread_local std::vector<float> space;
    const Index d_head = d / heads;
    space.resize(d_head + count + AHEAD);
    float *content = space.data(), *score = content + d_head;
    for (Index r = 0; r < rows; ++r)
        for (Index at = 0; at < d; at += d_head) {
            for (Index c = 0; c < d_head; ++c) content[c] = scale * query[r * from + at + c];
            scored(content, keys + at * room, room, d_head, count, score);
            softmax(score, count);
            mixed(score, values + at * room, room, d_head, count, 1, to + r * d + at);
        }
}

// Rows of a matrix from `width` numbers to (channel, room).
static void by_slot(Index rows, Index d, Index width, const float* from, Index room, float* to) {
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < d; ++c) to[c * room + r] = from[r * width + c];
}

extern "C" {

// Read x, (row, d_model), at `slot` of a cache whose slots from `first` on are seen; (row, kind) logits. x is written over.
void step(const Stack* stack, const State* state, float* x, Index first, Index slot, Index place, float* logits) {
    shared(state->rows, 2, [&](Index top, Index rows, auto) {
        read(stack, state, top, rows, x + top * stack->d_model, first, slot, place, logits + top * stack->readout.out);
    });
}

// Keys and values of a source of `rows` positions in every layer, (layer, 2, channel, room).
void source(const Stack* stack, Index rows, const float* memory, Index room, float* seen) {
    thread_local std::vector<float> projected;
    const Index d = stack->d_model;
    projected.resize(rows * 2 * d);
    for (Index l = 0; l < stack->n_layers; ++l, seen += 2 * d * room) {
        multiply(stack->layers[l].cross_source, rows, memory, projected.data());
        by_slot(rows, 2 * d, 2 * d, projected.data(), room, seen);
    }
}

// Read x, (row, d_model), the positions of one text, which all see each other, and `count` of a source: what `source` made of it, or null.
// Norms stand behind the sublayers. x is written over. Each thread has some of the rows, at least 7, so that starting is worth it.
void whole(const Stack* stack, Index rows, float scale, float* x, const float* seen, Index count, Index room) {
    thread_local std::vector<float> space;
    const Index d = stack->d_model, heads = stack->n_heads, own = rows + AHEAD;
    space.resize(4 * rows * d + 2 * d * own + AHEAD);
    float *projected = space.data(), *taken = projected + 3 * rows * d, *keys = taken + rows * d, *values = keys + d * own;
    shared(rows, 7, [&](Index begin, Index some, auto wait) {
        float *here = x + begin * d, *made = projected + begin * 3 * d, *got = taken + begin * d;
        for (Index l = 0; l < stack->n_layers; ++l) {
            const Layer& layer = stack->layers[l];
            multiply(layer.in, some, here, made);
            by_slot(some, d, 3 * d, made + d, own, keys + begin), by_slot(some, d, 3 * d, made + 2 * d, own, values + begin);
            wait();  // for all keys and values
            attended(some, d, heads, made, 3 * d, keys, values, own, rows, scale, got);
            wait();  // until all have read them
            multiply(layer.out, some, got, here, 1);
            normalise(layer.norm, some, d, here, here);
            if (seen) {
                multiply(layer.cross_query, some, here, made);
                attended(some, d, heads, made, d, seen + 2 * l * d * room, seen + (2 * l + 1) * d * room, room, count, scale, got);
                multiply(layer.cross_out, some, got, here, 1);
                normalise(layer.cross_norm, some, d, here, here);
            }
            thread_local std::vector<float> hidden;
            hidden.resize(some * layer.inner.out);
            multiply(layer.inner, some, here, hidden.data(), 0, true);
            multiply(layer.outer, some, hidden.data(), here, 1);
            normalise(layer.feedforward_norm, some, d, here, here);
        }
    });
}

// Logits of so many rows, (row, kind).
void readout(const Stack* stack, Index rows, const float* x, float* logits) {
    const Matrix& m = stack->readout;
    shared(panels(m), 32, [&](Index panel, Index some, auto) { multiply(m, panel, panel + some, rows, x, logits); });
}

// Attention of one block in place: scores (row, query, key) become weights, 0 behind each query's own key, the last query's being the
// last one, and before the `window` keys up to it. relative, or null: product (row, query, distance) from where the first query's row
// begins, read with rows of one element less, which is skewing.
void weigh(float* scores, const float* relative, Index rows, Index queries, Index keys, Index window) {
    shared(rows * queries, 16, [&](Index top, Index some, auto) {
        for (Index r = top; r < top + some; ++r) {
            const Index query = r % queries, end = keys - queries + query + 1, begin = std::max<Index>(0, end - window);
            float* score = scores + r * keys;
            if (relative) {
                const float* from = relative + (r - query) * keys + query * (keys - 1);
#pragma omp simd
                for (Index j = begin; j < end; ++j) score[j] += from[j];
            }
            weighed(score + begin, end - begin);
            std::fill(score, score + begin, 0.0f), std::fill(score + end, score + keys, 0.0f);
        }
    });
}

// One kind for each row by the inverse of the cumulative distribution of softmax(logits / heat), the likeliest where heat is 0; logits
// (row, kind), uniform (row) in [0, 1). The `barred` kinds of `never` are not drawn.
void draw(const float* logits, Index rows, Index kinds, const double* heat, const double* uniform, const Index* never, Index barred, Index* chosen) {
    thread_local std::vector<double> weight;
    weight.resize(kinds);
    for (Index r = 0; r < rows; ++r, logits += kinds) {
        for (Index i = 0; i < kinds; ++i) weight[i] = logits[i];
        for (Index i = 0; i < barred; ++i) weight[never[i]] = -std::numeric_limits<double>::infinity();
        const Index likeliest = std::max_element(weight.begin(), weight.end()) - weight.begin();
        chosen[r] = likeliest;
        if (heat[r] == 0) continue;
        const double highest = weight[likeliest];
        double total = 0, so_far = 0;
        for (double& one : weight) total += one = std::exp((one - highest) / heat[r]);
        for (Index i = 0; i < kinds && so_far <= uniform[r] * total; ++i)
            if (weight[i] > 0) so_far += weight[i], chosen[r] = i;
    }
}

// −log p of one kind in each row of logits, (row, kind).
void surprise(const float* logits, Index rows, Index kinds, const Index* chosen, double* nats) {
    for (Index r = 0; r < rows; ++r, logits += kinds) {
        const double highest = *std::max_element(logits, logits + kinds);
        double total = 0;
        for (Index i = 0; i < kinds; ++i) total += std::exp(logits[i] - highest);
        nats[r] = highest + std::log(total) - logits[chosen[r]];
    }
}

// Are there instructions for numbers of 16 bits?
int halves() { return HALVES; }
}
