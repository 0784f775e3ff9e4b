#pragma once
// A macro that Swift cannot import, because it passes the size of a structure.
#include <zlib.h>

// 15 window bits, plus 16 for the gzip format.
static inline int patchbay_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
