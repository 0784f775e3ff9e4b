/// Breaks a text into lines that fit.
struct PDFLines {
    private(set) var lines: [String] = []
    private let style: PDFStyle

    /// - Parameter width: in points.
    init(_ text: String, style: PDFStyle, width: Double) {
        self.style = style
        let room = Int(width * 1_000 / style.size)
        var line = ""
        var used = 0
        for piece in Self.pieces(of: text) {
            let needed = self.width(of: piece)
            if used + needed > room, !line.isEmpty {
                lines.append(line)
                (line, used) = ("", 0)
            }
            if needed <= room {
                if line.isEmpty, piece == " " { continue }
                line += piece
                used += needed
                continue
            }
            // A word longer than a line is cut where it must.
            for character in piece {
                let own = self.width(of: String(character))
                if used + own > room, !line.isEmpty {
                    lines.append(line)
                    (line, used) = ("", 0)
                }
                line.append(character)
                used += own
            }
        }
        if !line.isEmpty { lines.append(line) }
    }

    /// Words, the spaces between them, and ideographs, between which a line may end.
    private static func pieces(of text: String) -> [String] {
        var pieces: [String] = []
        var word = ""
        func end() {
            if !word.isEmpty { pieces.append(word) }
            word = ""
        }
        for character in text {
            if character.isWhitespace {
                end()
                if pieces.last != " " { pieces.append(" ") }
            } else if character.isIdeographic {
                end()
                pieces.append(String(character))
            } else {
                word.append(character)
            }
        }
        end()
        return pieces
    }

    /// In thousandths of the size.
    private func width(of text: String) -> Int {
        text.reduce(0) { sum, character in
            sum + (WinAnsi.code(of: character).map { WinAnsi.width(of: $0, isBold: style.isBold) } ?? BoxFont.width(of: character))
        }
    }
}
