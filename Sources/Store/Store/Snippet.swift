/// The first words of a text, cut between words: what a list shows of a summary.
enum Snippet {
    static func of(_ text: String) -> String {
        guard text.utf8.count > StoreLimits.snippetLength else { return text }
        var text = text
        let plain = text.withUTF8 { utf8 -> String? in
            let head = utf8[...StoreLimits.snippetLength]
            // Where all are of one byte, bytes are characters, and Swift need not find out where each ends. A line's end may be two bytes.
            guard head.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\r") }) else { return nil }
            let end = head.dropLast().lastIndex(of: UInt8(ascii: " ")) ?? StoreLimits.snippetLength
            return String(decoding: utf8[..<end], as: UTF8.self) + "…"
        }
        return plain ?? byCharacters(text)
    }

    private static func byCharacters(_ text: String) -> String {
        let head = text.prefix(StoreLimits.snippetLength)
        guard head.endIndex < text.endIndex else { return text }
        return (head.lastIndex(of: " ").map { head[..<$0] } ?? head) + "…"
    }
}
