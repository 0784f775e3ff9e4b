internal import Foundation

/// The encoding of PDF's standard fonts for Latin text (ISO 32000-1 annex D), which is Windows code page 1252, and Helvetica's widths.
enum WinAnsi {
    private static let from0x80: [Unicode.Scalar?] = [
        "€", nil, "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", nil, "Ž", nil, nil, "‘", "’", "“", "”", "•", "–", "—", "˜", "™",
        "š", "›",
        "œ", nil, "ž", "Ÿ",
    ]

    /// Nil for what the fonts have no glyph for.
    static func code(of character: Character) -> UInt8? {
        let scalars = String(character).precomposedStringWithCanonicalMapping.unicodeScalars
        guard scalars.count == 1, let scalar = scalars.first else { return nil }
        switch scalar.value {
        case 0x20...0x7E, 0xA1...0xFF: return UInt8(scalar.value)
        case 0xA0, 0x2009, 0x202F: return 0x20
        case 0x2011: return UInt8(ascii: "-")
        default: return from0x80.firstIndex(of: scalar).map { UInt8(0x80 + $0) }
        }
    }

    /// In thousandths of the font's size, as Adobe's metrics files have it.
    static func width(of code: UInt8, isBold: Bool) -> Int {
        let ascii = isBold ? boldWidths : widths
        if 0x20...0x7E ~= code { return ascii[Int(code) - 0x20] }
        switch code {
        case 0x85, 0x89, 0x8C, 0x97, 0x99, 0xC6: return 1_000
        case 0x9C, 0xE6: return 944
        case 0xDF: return 611
        case 0x91, 0x92: return isBold ? 278 : 222
        case 0x93, 0x94, 0x84: return isBold ? 500 : 333
        case 0x95: return 350
        case 0xB7: return 278
        case 0xA9, 0xAE: return 737
        default: break
        }
        // An accent makes a letter no wider.
        let base = String(UnicodeScalar(code)).decomposedStringWithCanonicalMapping.unicodeScalars.first
        guard let base, base.isASCII, base.value >= 0x20 else { return 611 }
        return ascii[Int(base.value) - 0x20]
    }

    private static let widths = [
        278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556,
        278, 278,
        584, 584, 584, 556, 1_015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722,
        667,
        944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556,
        556, 333,
        500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
    ]

    private static let boldWidths = [
        278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556,
        333, 333,
        584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722,
        667,
        944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611,
        611, 389,
        556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
    ]
}
