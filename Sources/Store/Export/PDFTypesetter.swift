internal import CPango
internal import Dispatch
internal import Foundation

/// How a paragraph looks. Lengths are in points, 1/72 inch.
struct ParagraphStyle {
    var size: Double
    var isBold = false
    /// 0 is black.
    var gray = 0.0
    var spaceBefore = 0.0
    var indent = 0.0
    /// Drawn before the first line, at the side where the paragraph begins.
    var bullet: String?
    /// Stays on one page with the lines that follow it.
    var keepsWithNext = false

    static let title = ParagraphStyle(size: 19, isBold: true, keepsWithNext: true)
    static let heading = ParagraphStyle(size: 12.5, isBold: true, spaceBefore: 16, keepsWithNext: true)
    static let speaker = ParagraphStyle(size: 8.5, isBold: true, gray: 0.35, spaceBefore: 8, keepsWithNext: true)
    static let body = ParagraphStyle(size: 10.5, spaceBefore: 2)
    static let item = ParagraphStyle(size: 10.5, spaceBefore: 3, indent: 14, bullet: "•")
    static let note = ParagraphStyle(size: 9, gray: 0.35, spaceBefore: 4)
    static let margin = ParagraphStyle(size: 8, gray: 0.45)
}

/// Sets paragraphs on A4 pages, with Pango (shaping, bidirectional text, font fallback) and Cairo (PDF with embedded font subsets).
///
/// Each document has a Pango font map of its own, so that documents may be set on any thread.
struct PDFTypesetter: ~Copyable {
    /// In points.
    private static let (pageWidth, pageHeight, margin) = (595.0, 842.0, 62.0)
    private static let (headerTop, footerTop) = (34.0, 798.0)
    /// Room that must be left under a paragraph that keeps with the next.
    private static let keptHeight = 36.0
    private static let family = "DejaVu Sans, sans-serif, emoji"

    /// Scalars for which no installed font has a glyph.
    private(set) var missing: Set<Unicode.Scalar> = []
    private var pageCount = 1
    /// From the page's top edge.
    private var y = Self.margin
    private let title: String
    private let fontMap: UnsafeMutablePointer<PangoFontMap>
    private let context: OpaquePointer
    /// Nil while pages are only counted.
    private var cairo: OpaquePointer?
    private var pageTotal = 0

    /// - Parameter title: the header of all pages but the first, and the document's title.
    /// - Throws: `failed` if Cairo has no memory.
    static func document(
        title: String, language: String, _ write: (inout PDFTypesetter) -> Void
    ) throws(StoreError) -> (bytes: [UInt8], missing: Set<Unicode.Scalar>) {
        var typesetter = PDFTypesetter(title: title, language: language)
        // Page numbers tell the total, so pages are counted first.
        write(&typesetter)
        let bytes = try typesetter.draw(write)
        return (bytes, typesetter.missing)
    }

    private init(title: String, language: String) {
        self.title = title
        fontMap = pango_cairo_font_map_new()
        context = pango_font_map_create_context(fontMap)
        pango_cairo_context_set_resolution(context, 72)
        pango_context_set_language(context, pango_language_from_string(language))
    }

    deinit {
        patchbay_context_free(context)
        patchbay_font_map_free(fontMap)
    }

    private mutating func draw(_ write: (inout PDFTypesetter) -> Void) throws(StoreError) -> [UInt8] {
        final class Output { var bytes: [UInt8] = [] }
        let output = Output()
        let surface = cairo_pdf_surface_create_for_stream(
            { output, data, count in
                guard let output, let data else { return CAIRO_STATUS_WRITE_ERROR }
                Unmanaged<Output>.fromOpaque(output).takeUnretainedValue().bytes += UnsafeBufferPointer(start: data, count: Int(count))
                return CAIRO_STATUS_SUCCESS
            }, Unmanaged.passUnretained(output).toOpaque(), Self.pageWidth, Self.pageHeight)
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, Self.printable(title))
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Patchbay")
        let cairo = cairo_create(surface)
        (self.cairo, pageTotal, pageCount, y) = (cairo, pageCount, 1, Self.margin)
        drawMargins()
        write(&self)
        cairo_show_page(cairo)
        cairo_surface_finish(surface)
        let status = (cairo_status(cairo), cairo_surface_status(surface))
        self.cairo = nil
        cairo_destroy(cairo)
        cairo_surface_destroy(surface)
        return try withExtendedLifetime(output) { () throws(StoreError) in
            guard status == (CAIRO_STATUS_SUCCESS, CAIRO_STATUS_SUCCESS) else {
                throw .failed("the PDF could not be written (Cairo status \(status.0.rawValue), \(status.1.rawValue))")
            }
            return output.bytes
        }
    }

    mutating func write(_ text: String, _ style: ParagraphStyle) {
        let layout = layout(of: text, style, width: Self.pageWidth - 2 * Self.margin - style.indent)
        defer { patchbay_layout_free(layout) }
        if y > Self.margin { y += style.spaceBefore }
        var (width, height): (CInt, CInt) = (0, 0)
        pango_layout_get_size(layout, &width, &height)
        if style.keepsWithNext, y + Self.points(height) + Self.keptHeight > Self.pageHeight - Self.margin { turnPage() }

        let lines = pango_layout_get_iter(layout)
        defer { pango_layout_iter_free(lines) }
        var isFirst = true
        repeat {
            var box = PangoRectangle()
            pango_layout_iter_get_line_extents(lines, nil, &box)
            if y + Self.points(box.height) > Self.pageHeight - Self.margin { turnPage() }
            let baseline = y + Self.points(pango_layout_iter_get_baseline(lines) - box.y)
            guard let line = pango_layout_iter_get_line_readonly(lines) else { break }
            let isRightToLeft = pango_layout_line_get_resolved_direction(line) == PANGO_DIRECTION_RTL
            // The indent is at the side where the line begins.
            draw(line, x: Self.margin + (isRightToLeft ? 0 : style.indent) + Self.points(box.x), baseline: baseline, style)
            if isFirst, let bullet = style.bullet {
                drawLine(bullet, style, x: isRightToLeft ? Self.pageWidth - Self.margin - 8 : Self.margin + 2, baseline: baseline)
            }
            isFirst = false
            y += Self.points(box.height)
        } while pango_layout_iter_next_line(lines) != 0
    }

    // MARK: Pages

    private mutating func turnPage() {
        pageCount += 1
        y = Self.margin
        guard let cairo else { return }
        cairo_show_page(cairo)
        drawMargins()
    }

    private mutating func drawMargins() {
        if pageTotal > 1 {
            drawLine("\(pageCount) / \(pageTotal)", .margin, x: nil, top: Self.footerTop)
        }
        if pageCount > 1 { drawLine(title, .margin, x: Self.margin, top: Self.headerTop) }
    }

    /// One line, shortened with an ellipsis if need be.
    ///
    /// - Parameter x: nil to center it.
    private mutating func drawLine(_ text: String, _ style: ParagraphStyle, x: Double?, top: Double = 0, baseline: Double? = nil) {
        let layout = layout(of: text, style, width: Self.pageWidth - 2 * Self.margin)
        defer { patchbay_layout_free(layout) }
        pango_layout_set_height(layout, -1)
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        pango_layout_set_single_paragraph_mode(layout, 1)
        if x == nil { pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER) }
        var box = PangoRectangle()
        pango_layout_get_extents(layout, nil, &box)
        guard let line = pango_layout_get_line_readonly(layout, 0) else { return }
        let offset = x == nil || baseline == nil ? Self.points(box.x) : 0
        draw(line, x: (x ?? Self.margin) + offset, baseline: baseline ?? top + Self.points(pango_layout_get_baseline(layout)), style)
    }

    private mutating func draw(_ line: UnsafeMutablePointer<PangoLayoutLine>, x: Double, baseline: Double, _ style: ParagraphStyle) {
        guard let cairo else { return }
        cairo_set_source_rgb(cairo, style.gray, style.gray, style.gray)
        cairo_move_to(cairo, x, baseline)
        pango_cairo_show_layout_line(cairo, line)
    }

    // MARK: Text

    private mutating func layout(of text: String, _ style: ParagraphStyle, width: Double) -> OpaquePointer {
        guard let layout = pango_layout_new(context) else { preconditionFailure("Pango has no memory") }
        let font = pango_font_description_from_string(Self.family)
        pango_font_description_set_absolute_size(font, style.size * Double(PANGO_SCALE))
        if style.isBold { pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD) }
        pango_layout_set_font_description(layout, font)
        pango_font_description_free(font)
        pango_layout_set_width(layout, CInt(width * Double(PANGO_SCALE)))
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        pango_layout_set_line_spacing(layout, 1.2)
        var text = Self.printable(text)
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { pango_layout_set_text(layout, $0.baseAddress, CInt($0.count)) }
        }
        if pango_layout_get_unknown_glyphs_count(layout) > 0 { missing.formUnion(Self.unknownScalars(in: layout)) }
        return layout
    }

    /// Pango draws a box with the scalar's number where no font has a glyph; its glyph number is the scalar with a flag.
    private static func unknownScalars(in layout: OpaquePointer) -> [Unicode.Scalar] {
        let unknownFlag: UInt32 = 0x1000_0000
        var scalars: [Unicode.Scalar] = []
        let runs = pango_layout_get_iter(layout)
        defer { pango_layout_iter_free(runs) }
        repeat {
            guard let run = pango_layout_iter_get_run_readonly(runs), let glyphs = run.pointee.glyphs else { continue }
            for glyph in UnsafeBufferPointer(start: glyphs.pointee.glyphs, count: Int(glyphs.pointee.num_glyphs))
            where glyph.glyph & unknownFlag != 0 && glyph.glyph != UInt32.max {
                if let scalar = Unicode.Scalar(glyph.glyph & ~unknownFlag) { scalars.append(scalar) }
            }
        } while pango_layout_iter_next_run(runs) != 0
        return scalars
    }

    /// Without control characters, but for line ends and tabs.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control || $0 == "\n" || $0 == "\t" }))
    }

    private static func points(_ units: CInt) -> Double { Double(units) / Double(PANGO_SCALE) }
}

extension Unicode.Scalar {
    /// The ISO 15924 code of its script: `Hang`, `Thai`, `Zsye` for emoji.
    var scriptCode: String {
        if properties.isEmojiPresentation { return "Zsye" }
        let code = g_unicode_script_to_iso15924(g_unichar_get_script(value))
        return String(String.UnicodeScalarView((0..<4).reversed().compactMap { Unicode.Scalar((code >> ($0 * 8)) & 0xFF) }))
    }
}

extension Export {
    /// Typesetting takes the CPU for as long as the conversation is long, so it stays off the store's threads, one document at a time.
    private static let queue = DispatchQueue(label: "Store.pdf")

    /// A4, with the title and page numbers on each page.
    func pdf() async throws(StoreError) -> ExportFile {
        let result: Result<ExportFile, StoreError> = await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: Result { () throws(StoreError) in try self.makePDF() }) }
        }
        return try result.get()
    }

    private func makePDF() throws(StoreError) -> ExportFile {
        let cues = cues
        let (bytes, missing) = try PDFTypesetter.document(title: title, language: words.language) { pages in
            pages.write(title, .title)
            pages.write(date, .note)
            if let content = summary?.content {
                pages.write(words.summary, .heading)
                pages.write(content.summaryText, .body)
                if !content.actionItems.isEmpty { pages.write(words.actionItems, .heading) }
                for item in content.actionItems { pages.write(item, .item) }
                if !content.tags.isEmpty { pages.write("\(words.tags): \(content.tags.joined(separator: ", "))", .note) }
            }
            pages.write(words.transcript, .heading)
            if cues.isEmpty { pages.write(words.noTurns, .note) }
            for cue in cues {
                pages.write("\(words.name(of: cue.speaker)) · \(cue.clock)", .speaker)
                pages.write(cue.text, .body)
            }
        }
        return ExportFile(bytes: bytes, scriptsWithoutFont: Set(missing.map(\.scriptCode)).sorted())
    }
}
