// Numbers below 64 in the lanes of a register, which select from short tables, and lists of 16-bit
// codes made of such numbers; for kernels that compare all parts of two blocks. In the vocabulary
// of wide.h.
//
//   wide_index                     a number in every lane
//   wide_index_bytes(p)            WIDE_LANES bytes; up to 16 are read
//   wide_index_above(p, n)         the bits above the lowest n of WIDE_LANES codes
//   wide_index_below(p, n)         the lowest n bits of them
//   byte_table_make(p, count)      a table of `count` bytes, 32 or 64
//   wide_index_from(&bytes, i)     byte number i of the table
//   point_table_make(&points, x)   a table of 32 points, of rows of their coordinates by axis
//   wide_point_lookup(&points, i, &x, &y, &z)   point number i of the table
//   bytes_equal(p, count, byte)    bits of the bytes that are equal to it; count is 32 or 64
//   wide_pack(to, a, bits)         the lanes l of `a` for every bit l that is set, in order;
//   returns
//                                  the end. WIDE_LANES more may be written.
//   reals_pack(to, from, bits, count)   the reals from[l] for every bit l < count that is set, in
//                                  order, of whole registers; WIDE_LANES more may be written
//   bytes_pack(to, from, bits, count)   the same for bytes, with 16 more; returns their number
//   codes_append(to, bits, count, high, numbers)   high | numbers[l] for every bit l < count that
//                                  is set, in order; returns the end. 16 numbers more may be read.
//   codes_keep(to, from, bits)     from[l] for every bit l < WIDE_LANES that is set; returns the
//                                  end. `to` may be up to `from`.
//   codes_keep_16(to, from, bits)  the same for every bit l < 16, not in place
//
// Tables are registers where these can be looked up, and are then loaded once for many lookups.
// Codes are written and read up to CODES_SLACK beyond their end.
#ifndef TAUT_SIMD_CODES_H
#define TAUT_SIMD_CODES_H

#include <stdbool.h>

#include "base/bits.h"
#include "simd/wide.h"

enum { CODES_SLACK = 16 };

// Writes 32 points as records of 4.
WIDE_INLINE void points_put(real *records, const real (*x)[32])
{
    for (int i = 0; i < 32; i += WIDE_LANES)
        wide_records_put(records + 4 * i, wide_load(x[0] + i), wide_load(x[1] + i),
                         wide_load(x[2] + i));
}

#if TAUT_WIDE_ISA == 4

typedef __m512i wide_index; // 16 bits each, of which the first WIDE_LANES are used

typedef struct {
    __m512i words[2]; // the second for a table of 64
    bool large;
} byte_table;

typedef struct {
    wide values[3][32 / WIDE_LANES];
} point_table;

static inline wide_index wide_index_bytes(const uint8_t *p)
{
    return _mm512_zextsi256_si512(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p)));
}

static inline __m512i wide_codes(const uint16_t *p)
{
    return _mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i *)p));
}

static inline wide_index wide_index_above(const uint16_t *p, int bits)
{
    return _mm512_srli_epi16(wide_codes(p), (unsigned)bits);
}

static inline wide_index wide_index_below(const uint16_t *p, int bits)
{
    return _mm512_and_si512(wide_codes(p), _mm512_set1_epi16((short)((1 << bits) - 1)));
}

WIDE_INLINE byte_table byte_table_make(const uint8_t *p, int count)
{
    byte_table table = {.large = count > 32};
    table.words[0] = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p));
    table.words[1] = table.large
                         ? _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(p + 32)))
                         : table.words[0];
    return table;
}

WIDE_INLINE wide_index wide_index_from(const byte_table *table, wide_index i)
{
    if (table->large)
        return _mm512_permutex2var_epi16(table->words[0], i, table->words[1]);
    return _mm512_permutexvar_epi16(i, table->words[0]);
}

WIDE_INLINE void point_table_make(point_table *table, const real (*x)[32])
{
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 32 / WIDE_LANES; i++)
            table->values[axis][i] = wide_load(x[axis] + i * WIDE_LANES);
}

WIDE_INLINE wide wide_lookup(const wide values[32 / WIDE_LANES], wide_index i)
{
#    if TAUT_REAL_BITS == 32
    return _mm512_permutex2var_ps(values[0], _mm512_cvtepu16_epi32(_mm512_castsi512_si256(i)),
                                  values[1]);
#    else
    const __m512i at = _mm512_cvtepu16_epi64(_mm512_castsi512_si128(i));
    const __m512d low = _mm512_permutex2var_pd(values[0], at, values[1]);
    const __m512d high = _mm512_permutex2var_pd(values[2], at, values[3]);
    return _mm512_mask_mov_pd(low, _mm512_test_epi64_mask(at, _mm512_set1_epi64(16)), high);
#    endif
}

WIDE_INLINE void wide_point_lookup(const point_table *table, wide_index i, wide *x, wide *y,
                                   wide *z)
{
    *x = wide_lookup(table->values[0], i);
    *y = wide_lookup(table->values[1], i);
    *z = wide_lookup(table->values[2], i);
}

static inline uint64_t bytes_equal(const uint8_t *p, int count, uint8_t byte)
{
    if (count <= 32)
        return _mm256_cmpeq_epi8_mask(_mm256_loadu_si256((const __m256i *)p),
                                      _mm256_set1_epi8((char)byte));
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8((char)byte));
}

WIDE_INLINE real *wide_pack(real *to, wide a, unsigned bits)
{
    wide_store(to, WIDE_OP(maskz_compress)((wide_mask)bits, a));
    return to + __builtin_popcount(bits);
}

WIDE_INLINE void reals_pack(real *to, const real *from, uint64_t bits, int count)
{
    for (int first = 0; first < count; first += WIDE_LANES, bits >>= WIDE_LANES)
        to = wide_pack(to, wide_load(from + first), (wide_mask)bits);
}

WIDE_INLINE int bytes_pack(uint8_t *to, const uint8_t *from, uint64_t bits, int count)
{
    const uint8_t *start = to;
    for (int first = 0; first < count; first += 16, bits >>= 16) {
        const __mmask16 these = (__mmask16)bits;
        const __m512i wider =
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(from + first)));
        _mm_storeu_si128((__m128i *)to,
                         _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(these, wider)));
        to += __builtin_popcount(these);
    }
    return (int)(to - start);
}

WIDE_INLINE uint16_t *codes_append(uint16_t *to, uint64_t bits, int count, unsigned high,
                                   const uint8_t *numbers)
{
    for (int first = 0; first < count; first += 16, bits >>= 16) {
        const __mmask16 these = (__mmask16)bits;
        const __m512i low =
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(numbers + first)));
        const __m512i codes = _mm512_or_si512(low, _mm512_set1_epi32((int)high));
        _mm256_storeu_si256((__m256i *)to,
                            _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(these, codes)));
        to += __builtin_popcount(these);
    }
    return to;
}

static inline __m256i codes_kept(const uint16_t *from, unsigned bits)
{
    const __m512i codes = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from));
    return _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32((__mmask16)bits, codes));
}

static inline uint16_t *codes_keep_16(uint16_t *to, const uint16_t *from, unsigned bits)
{
    _mm256_storeu_si256((__m256i *)to, codes_kept(from, bits));
    return to + __builtin_popcount(bits);
}

static inline uint16_t *codes_keep(uint16_t *to, const uint16_t *from, unsigned bits)
{
#    if TAUT_REAL_BITS == 32
    return codes_keep_16(to, from, bits);
#    else // later codes may not be overwritten
    _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(codes_kept(from, bits)));
    return to + __builtin_popcount(bits);
#    endif
}

#else

// Points as records, of which one load has all coordinates.
typedef struct {
    _Alignas(4 * sizeof(real)) real records[4 * 32];
} point_table;

WIDE_INLINE void point_table_make(point_table *table, const real (*x)[32])
{
    points_put(table->records, x);
}

#    if TAUT_WIDE_ISA == 3

typedef __m128i wide_index; // a byte each, of which the first WIDE_LANES are used

typedef struct {
    __m128i bytes[4]; // the last two for a table of 64
    bool large;
} byte_table;

static inline wide_index wide_index_bytes(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)p);
}

static inline wide_index wide_index_above(const uint16_t *p, int bits)
{
    const __m128i words = _mm_srli_epi16(_mm_loadu_si128((const __m128i *)p), bits);
    return _mm_packus_epi16(words, words);
}

static inline wide_index wide_index_below(const uint16_t *p, int bits)
{
    const __m128i words = _mm_and_si128(_mm_loadu_si128((const __m128i *)p),
                                        _mm_set1_epi16((short)((1 << bits) - 1)));
    return _mm_packus_epi16(words, words);
}

WIDE_INLINE byte_table byte_table_make(const uint8_t *p, int count)
{
    byte_table table = {.large = count > 32};
    for (int i = 0; i < 4; i++)
        table.bytes[i] = _mm_loadu_si128((const __m128i *)(p + (table.large ? i : i % 2) * 16));
    return table;
}

// Looks up the lowest four bits in each sixteenth of the table, and selects by the others, which
// become the highest bit of their byte.
WIDE_INLINE wide_index wide_index_from(const byte_table *table, wide_index i)
{
    const __m128i bit_4 = _mm_slli_epi16(i, 3);
    __m128i found = _mm_blendv_epi8(_mm_shuffle_epi8(table->bytes[0], i),
                                    _mm_shuffle_epi8(table->bytes[1], i), bit_4);
    if (table->large)
        found = _mm_blendv_epi8(found,
                                _mm_blendv_epi8(_mm_shuffle_epi8(table->bytes[2], i),
                                                _mm_shuffle_epi8(table->bytes[3], i), bit_4),
                                _mm_slli_epi16(i, 2));
    return found;
}

// The numbers are the lowest byte times 8, which still fit into bytes.
WIDE_INLINE const real *record_at(const point_table *table, uint64_t eighths)
{
    return (const real *)((const char *)table->records +
                          (eighths & UINT8_MAX) * (sizeof(real) / 2));
}

// Numbers leave the vector registers together, which takes fewer instructions than one by one.
WIDE_INLINE void wide_point_lookup(const point_table *table, wide_index i, wide *x, wide *y,
                                   wide *z)
{
    const uint64_t at = (uint64_t)_mm_cvtsi128_si64(_mm_slli_epi16(i, 3));
#        if TAUT_REAL_BITS == 32
    wide row[4];
    for (int k = 0; k < 4; k++)
        row[k] =
            _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(record_at(table, at >> 8 * k))),
                                 _mm_load_ps(record_at(table, at >> 8 * (k + 4))), 1);
    wide_transpose(row, x, y, z);
#        else
    const real *records[4];
    for (int k = 0; k < 4; k++)
        records[k] = record_at(table, at >> 8 * k);
    wide_transpose_records(records, x, y, z);
#        endif
}

// The lanes whose bits are set, in order, a byte each, for every set of lanes.
#        define BITS_OF_4(m)  (((m)&1) + ((m) >> 1 & 1) + ((m) >> 2 & 1) + ((m) >> 3 & 1))
#        define BITS_OF(m)    (BITS_OF_4(m) + BITS_OF_4((m) >> 4))
#        define BELOW(m, l)   ((m) & ((1 << (l)) - 1))
#        define LANE(m, l)    ((UINT64_C(l) * ((m) >> (l)&1)) << 8 * BITS_OF(BELOW(m, l)))
#        define LANES_TO_4(m) (LANE(m, 1) | LANE(m, 2) | LANE(m, 3))
#        define LANES(m)      (LANES_TO_4(m) | LANE(m, 4) | LANE(m, 5) | LANE(m, 6) | LANE(m, 7))
#        define SETS_4(m)     LANES(m), LANES(m + 1), LANES(m + 2), LANES(m + 3)
#        define SETS_16(m)    SETS_4(m), SETS_4(m + 4), SETS_4(m + 8), SETS_4(m + 12)
#        define SETS_64(m)    SETS_16(m), SETS_16(m + 16), SETS_16(m + 32), SETS_16(m + 48)
static const uint64_t lanes_kept[256] = {SETS_64(0), SETS_64(64), SETS_64(128), SETS_64(192)};
#        undef BITS_OF_4
#        undef BITS_OF
#        undef BELOW
#        undef LANE
#        undef LANES_TO_4
#        undef LANES
#        undef SETS_4
#        undef SETS_16
#        undef SETS_64

WIDE_INLINE __m128i kept_lanes(unsigned bits)
{
    return _mm_loadl_epi64((const __m128i *)&lanes_kept[bits]);
}

// The bytes of these lanes, of 16 bits each.
WIDE_INLINE __m128i bytes_of_kept(unsigned bits)
{
    const __m128i lanes = kept_lanes(bits), twice = _mm_unpacklo_epi8(lanes, lanes);
    return _mm_add_epi8(_mm_add_epi8(twice, twice), _mm_set1_epi16(0x0100));
}

WIDE_INLINE uint16_t *codes_keep_eight(uint16_t *to, __m128i codes, unsigned bits)
{
    _mm_storeu_si128((__m128i *)to, _mm_shuffle_epi8(codes, bytes_of_kept(bits)));
    return to + __builtin_popcount(bits);
}

WIDE_INLINE uint16_t *codes_keep(uint16_t *to, const uint16_t *from, unsigned bits)
{
    if (WIDE_LANES == 8)
        return codes_keep_eight(to, _mm_loadu_si128((const __m128i *)from), bits);
    // Later codes may not be overwritten.
    _mm_storel_epi64((__m128i *)to,
                     _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)from), bytes_of_kept(bits)));
    return to + __builtin_popcount(bits);
}

WIDE_INLINE uint16_t *codes_keep_16(uint16_t *to, const uint16_t *from, unsigned bits)
{
    to = codes_keep_eight(to, _mm_loadu_si128((const __m128i *)from), bits & 255);
    return codes_keep_eight(to, _mm_loadu_si128((const __m128i *)(from + 8)), bits >> 8);
}

// Eight bytes as words.
WIDE_INLINE __m128i wide_words(const uint8_t *p)
{
    return _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)p));
}

WIDE_INLINE uint16_t *codes_append(uint16_t *to, uint64_t bits, int count, unsigned high,
                                   const uint8_t *numbers)
{
    for (int first = 0; first < count; first += 8, bits >>= 8)
        to = codes_keep_eight(
            to, _mm_or_si128(wide_words(numbers + first), _mm_set1_epi16((short)high)),
            (unsigned)bits & 255);
    return to;
}

WIDE_INLINE int bytes_pack(uint8_t *to, const uint8_t *from, uint64_t bits, int count)
{
    const uint8_t *start = to;
    for (int first = 0; first < count; first += 8, bits >>= 8) {
        uint16_t kept[16];
        const uint16_t *end =
            codes_keep_eight(kept, wide_words(from + first), (unsigned)bits & 255);
        const __m128i words = _mm_loadu_si128((const __m128i *)kept);
        _mm_storel_epi64((__m128i *)to, _mm_packus_epi16(words, words));
        to += end - kept;
    }
    return (int)(to - start);
}

#        if TAUT_REAL_BITS == 32
WIDE_INLINE real *wide_pack(real *to, wide a, unsigned bits)
{
    wide_store(to, _mm256_permutevar8x32_ps(a, _mm256_cvtepu8_epi32(kept_lanes(bits))));
    return to + __builtin_popcount(bits);
}
#        else
WIDE_INLINE real *wide_pack(real *to, wide a, unsigned bits)
{
    const __m256i halves = _mm256_cvtepu8_epi32(bytes_of_kept(bits));
    wide_store(to, _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(a), halves)));
    return to + __builtin_popcount(bits);
}
#        endif

WIDE_INLINE void reals_pack(real *to, const real *from, uint64_t bits, int count)
{
    for (int first = 0; first < count; first += WIDE_LANES, bits >>= WIDE_LANES)
        to = wide_pack(to, wide_load(from + first), (unsigned)bits & ((1U << WIDE_LANES) - 1));
}

#    else

// Through memory.
typedef struct {
    uint16_t at[WIDE_LANES];
} wide_index;

typedef struct {
    const uint8_t *bytes;
} byte_table;

static inline wide_index wide_index_bytes(const uint8_t *p)
{
    wide_index i;
    for (int l = 0; l < WIDE_LANES; l++)
        i.at[l] = p[l];
    return i;
}

static inline wide_index wide_index_above(const uint16_t *p, int bits)
{
    wide_index i;
    for (int l = 0; l < WIDE_LANES; l++)
        i.at[l] = (uint16_t)(p[l] >> bits);
    return i;
}

static inline wide_index wide_index_below(const uint16_t *p, int bits)
{
    wide_index i;
    for (int l = 0; l < WIDE_LANES; l++)
        i.at[l] = (uint16_t)(p[l] & ((1 << bits) - 1));
    return i;
}

static inline byte_table byte_table_make(const uint8_t *p, int count)
{
    (void)count;
    return (byte_table){p};
}

static inline wide_index wide_index_from(const byte_table *table, wide_index i)
{
    for (int l = 0; l < WIDE_LANES; l++)
        i.at[l] = table->bytes[i.at[l]];
    return i;
}

WIDE_INLINE void wide_point_lookup(const point_table *table, wide_index i, wide *x, wide *y,
                                   wide *z)
{
    uint16_t at[WIDE_LANES];
    for (int l = 0; l < WIDE_LANES; l++)
        at[l] = (uint16_t)(4 * i.at[l]);
    wide_records_4(table->records, at, x, y, z);
}

static inline real *wide_pack(real *to, wide a, unsigned bits)
{
    real lanes[WIDE_LANES];
    wide_store(lanes, a);
    for (int l = 0; l < WIDE_LANES; l++) { // without branches
        *to = lanes[l];
        to += bits >> l & 1;
    }
    return to;
}

static inline void reals_pack(real *to, const real *from, uint64_t bits, int count)
{
    (void)count; // no further bits are set
    for (; bits; bits &= bits - 1)
        *to++ = from[lowest_bit(bits)];
}

static inline int bytes_pack(uint8_t *to, const uint8_t *from, uint64_t bits, int count)
{
    int packed = 0;
    (void)count;
    for (; bits; bits &= bits - 1)
        to[packed++] = from[lowest_bit(bits)];
    return packed;
}

static inline uint16_t *codes_append(uint16_t *to, uint64_t bits, int count, unsigned high,
                                     const uint8_t *numbers)
{
    (void)count;
    for (; bits; bits &= bits - 1)
        *to++ = (uint16_t)(high | numbers[lowest_bit(bits)]);
    return to;
}

static inline uint16_t *codes_keep(uint16_t *to, const uint16_t *from, unsigned bits)
{
    for (int l = 0; l < WIDE_LANES; l++) { // without branches
        *to = from[l];
        to += bits >> l & 1;
    }
    return to;
}

static inline uint16_t *codes_keep_16(uint16_t *to, const uint16_t *from, unsigned bits)
{
    for (int l = 0; l < 16; l++) {
        *to = from[l];
        to += bits >> l & 1;
    }
    return to;
}

#    endif

static inline uint64_t bytes_equal(const uint8_t *p, int count, uint8_t byte)
{
    uint64_t bits = 0;
#    if defined(__x86_64__)
    for (int i = 0; i < count; i += 16) {
        const __m128i equal =
            _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + i)), _mm_set1_epi8((char)byte));
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(equal) << i;
    }
#    else
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)(p[i] == byte) << i;
#    endif
    return bits;
}

#endif

#endif
