#pragma once
#include <cairo-pdf.h>
#include <pango/pangocairo.h>

// g_object_unref and friends are macros over gpointer, which Swift does not import for every type.

static inline void patchbay_layout_free(PangoLayout *layout) {
    g_object_unref(layout);
}

static inline void patchbay_context_free(PangoContext *context) {
    g_object_unref(context);
}

static inline void patchbay_font_map_free(PangoFontMap *map) {
    g_object_unref(map);
}
