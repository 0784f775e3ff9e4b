/// How a paragraph looks. Lengths are in points, 1/72 inch.
struct PDFStyle {
    var size: Double
    var isBold = false
    /// 0 is black.
    var gray = 0.0
    var spaceBefore = 0.0
    var indent = 0.0
    /// Hung before the first line.
    var mark: String?
    /// Whether it must not stand alone at the foot of a page.
    var keepsWithNext = false

    var lineHeight: Double { size * 1.4 }

    static let title = PDFStyle(size: 20, isBold: true, keepsWithNext: true)
    static let heading = PDFStyle(size: 13, isBold: true, spaceBefore: 16, keepsWithNext: true)
    static let speaker = PDFStyle(size: 9, isBold: true, gray: 0.35, spaceBefore: 8, keepsWithNext: true)
    static let body = PDFStyle(size: 11, spaceBefore: 2)
    static let item = PDFStyle(size: 11, spaceBefore: 3, indent: 14, mark: "•")
    static let note = PDFStyle(size: 9.5, gray: 0.35, spaceBefore: 4)
}
