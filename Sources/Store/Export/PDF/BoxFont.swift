/// Fonts for all that Helvetica has no glyph for: an empty box on the page, the character itself for whoever copies or searches the text.
///
/// The program carries no font files, and a viewer's own fonts cannot be relied on for other scripts. So Cyrillic, Chinese or an emoji
/// can be seen to be there, and taken out, but not read in the PDF; the other formats have it all.
struct BoxFont {
    /// One byte for a glyph, and 0 is left alone.
    private static let glyphsPerFont = 255

    private(set) var characters: [Character] = []
    private var places: [Character: Int] = [:]

    /// Of a box in thousandths of the font's size; ideographs are square.
    static func width(of character: Character) -> Int { character.isIdeographic ? 1_000 : 600 }

    mutating func glyph(of character: Character) -> (font: Int, code: UInt8) {
        let place: Int
        if let known = places[character] {
            place = known
        } else {
            place = characters.count
            places[character] = place
            characters.append(character)
        }
        return (place / Self.glyphsPerFont, UInt8(place % Self.glyphsPerFont + 1))
    }

    /// The objects' numbers, in the fonts' order.
    func write(into file: inout PDFFile) -> [Int] {
        stride(from: 0, to: characters.count, by: Self.glyphsPerFont).map { start in
            Self.font(of: Array(characters[start..<min(start + Self.glyphsPerFont, characters.count)]), into: &file)
        }
    }

    private static func font(of characters: [Character], into file: inout PDFFile) -> Int {
        let narrow = file.add(stream: box(600))
        let wide = file.add(stream: box(1_000))
        let map = file.add(stream: toUnicode(characters))
        let widths = characters.map { "\(width(of: $0))" }.joined(separator: " ")
        let names = characters.map { width(of: $0) == 600 ? "/n" : "/w" }.joined(separator: " ")
        return file.add(
            """
            << /Type /Font /Subtype /Type3 /FontBBox [0 -200 1000 800] /FontMatrix [0.001 0 0 0.001 0 0] /Resources << >>
            /CharProcs << /n \(narrow) 0 R /w \(wide) 0 R >> /Encoding << /Type /Encoding /Differences [1 \(names)] >>
            /FirstChar 1 /LastChar \(characters.count) /Widths [\(widths)] /ToUnicode \(map) 0 R >>
            """)
    }

    private static func box(_ width: Int) -> [UInt8] {
        Array("\(width) 0 0 -200 \(width) 800 d1\n40 w 80 -40 \(width - 160) 720 re S".utf8)
    }

    /// ISO 32000-1 section 9.10.3. At most 100 lines stand in a block.
    private static func toUnicode(_ characters: [Character]) -> [UInt8] {
        var text = """
            /CIDInit /ProcSet findresource begin
            12 dict begin
            begincmap
            /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
            /CMapName /Adobe-Identity-UCS def
            /CMapType 2 def
            1 begincodespacerange
            <00> <FF>
            endcodespacerange

            """
        for start in stride(from: 0, to: characters.count, by: 100) {
            let block = characters[start..<min(start + 100, characters.count)]
            text += "\(block.count) beginbfchar\n"
            for (offset, character) in block.enumerated() {
                text += "<\(PDFFile.hex(UInt8(start + offset + 1)))> <\(PDFFile.hex(utf16: String(character)))>\n"
            }
            text += "endbfchar\n"
        }
        return Array((text + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend").utf8)
    }
}
