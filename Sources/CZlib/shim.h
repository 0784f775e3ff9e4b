#pragma once
// What Swift cannot import from this header: a macro that calls a function with the size of a structure.
#include <zlib.h>

// 15 bits of window, and 16 for gzip's own head and tail.
static inline int patchbay_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
