/// Paragraphs on pages.
struct PDFSheets {
    /// A4, in points.
    private static let width = 595.0
    private static let height = 842.0
    private static let margin = 62.0
    private static let footer = 36.0

    private var pages: [String] = [""]
    private var boxes = BoxFont()
    /// The distance of the next line's top from the page's foot.
    private var top = Self.height - Self.margin

    mutating func write(_ text: String, _ style: PDFStyle) {
        let room = Self.width - 2 * Self.margin - style.indent
        let lines = PDFLines(text.filter { !$0.isControl }, style: style, width: room).lines
        if top < Self.height - Self.margin { top -= style.spaceBefore }
        // Two lines of what follows have to have room too.
        let needed = style.keepsWithNext ? Double(lines.count) * style.lineHeight + 36 : style.lineHeight
        if top - needed < Self.margin { turn() }
        for (index, line) in lines.enumerated() {
            if top - style.lineHeight < Self.margin { turn() }
            top -= style.lineHeight
            let y = top + style.lineHeight - style.size
            if index == 0, let mark = style.mark { draw(mark, x: Self.margin + 2, y: y, style) }
            draw(line, x: Self.margin + style.indent, y: y, style)
        }
    }

    private mutating func turn() {
        pages.append("")
        top = Self.height - Self.margin
    }

    private mutating func draw(_ text: String, x: Double, y: Double, _ style: PDFStyle) {
        pages[pages.count - 1] += Self.drawing(text, x: x, y: y, style, boxes: &boxes)
    }

    /// One line's operators; the font changes as often as the script does.
    private static func drawing(_ text: String, x: Double, y: Double, _ style: PDFStyle, boxes: inout BoxFont) -> String {
        var drawing = "BT \(number(style.gray)) g \(number(x)) \(number(y)) Td"
        var font = ""
        var codes = ""
        func end() {
            if !codes.isEmpty { drawing += " /\(font) \(number(style.size)) Tf <\(codes)> Tj" }
            codes = ""
        }
        for character in text {
            let next: (font: String, code: UInt8)
            if let code = WinAnsi.code(of: character) {
                next = (style.isBold ? "B" : "R", code)
            } else {
                let glyph = boxes.glyph(of: character)
                next = ("X\(glyph.font)", glyph.code)
            }
            if next.font != font { end() }
            font = next.font
            codes += PDFFile.hex(next.code)
        }
        end()
        return drawing + " ET\n"
    }

    /// With one decimal, as PDF wants it: no exponent.
    private static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return rest == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension PDFSheets {
    consuming func document(title: String, language: String) -> [UInt8] {
        var sheets = self
        for index in sheets.pages.indices where sheets.pages.count > 1 {
            let label = "\(index + 1) / \(sheets.pages.count)"
            sheets.pages[index] += Self.drawing(
                label, x: Self.width / 2 - 10, y: Self.footer, PDFStyle(size: 9, gray: 0.35), boxes: &sheets.boxes)
        }
        var file = PDFFile()
        let tree = file.reserve()
        let regular = file.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
        let bold = file.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
        let others = sheets.boxes.write(into: &file).enumerated().map { "/X\($0.offset) \($0.element) 0 R" }.joined(separator: " ")
        let fonts = file.add("<< /R \(regular) 0 R /B \(bold) 0 R \(others) >>")
        let kids = sheets.pages.map { page in
            let content = file.add(stream: Array(page.utf8))
            return file.add(
                """
                << /Type /Page /Parent \(tree) 0 R /MediaBox [0 0 \(Int(Self.width)) \(Int(Self.height))]
                /Resources << /Font \(fonts) 0 R >> /Contents \(content) 0 R >>
                """)
        }
        file.set(tree, "<< /Type /Pages /Count \(kids.count) /Kids [\(kids.map { "\($0) 0 R" }.joined(separator: " "))] >>")
        let root = file.add("<< /Type /Catalog /Pages \(tree) 0 R /Lang (\(language)) >>")
        let info = file.add("<< /Title \(PDFFile.text(title)) /Producer (Patchbay) >>")
        return file.bytes(root: root, info: info)
    }
}

extension Character {
    fileprivate var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } && !isWhitespace }
}
