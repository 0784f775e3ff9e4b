/// The text of Markdown without its marks. A pure function of its input, linear in its length.
///
/// Headings, list items and rows of tables become sentences. Marks that do not pair up are removed as well, because a streamed text arrives in
/// sentences, and emphasis may extend over several.
enum MarkdownText {
    /// Lines with something to say.
    static func lines(of text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).compactMap { line(String($0)) }
    }

    private static func line(_ text: String) -> String? {
        var rest = text.trimmingSpaces()[...]
        var isSentence = false
        // Block quotes, and lists in them.
        while rest.hasPrefix(">") { rest = rest.dropFirst().drop(while: \.isWhitespace) }
        if isRule(rest) || rest.hasPrefix("```") || rest.hasPrefix("~~~") { return nil }
        if let heading = heading(rest) {
            (rest, isSentence) = (heading, true)
        } else if let item = item(rest) {
            (rest, isSentence) = (item, true)
        } else if isNumbered(rest) {
            isSentence = true
        }
        if rest.hasPrefix("|") {
            guard let row = row(rest) else { return nil }
            (rest, isSentence) = (row[...], true)
        }
        let plain = withoutEmphasis(withoutLinks(rest)).trimmingSpaces()
        guard let last = plain.last else { return nil }
        return isSentence && !".!?:;,…".contains(last) ? plain + "." : plain
    }

    /// `---`, `***`, `___`, `===`, and the line below the head of a table.
    private static func isRule(_ line: Substring) -> Bool {
        line.count >= 2 && line.allSatisfy { "-*_=|: ".contains($0) }
    }

    private static func heading(_ line: Substring) -> Substring? {
        let text = line.drop { $0 == "#" }
        guard text.count < line.count, line.count - text.count <= 6, text.first?.isWhitespace == true else { return nil }
        var heading = text.drop(while: \.isWhitespace)
        while let last = heading.last, last == "#" || last.isWhitespace { heading.removeLast() }
        return heading
    }

    /// The text of a bullet, without the box of a task.
    private static func item(_ line: Substring) -> Substring? {
        guard let mark = line.first, "-*+•".contains(mark) else { return nil }
        var text = line.dropFirst()
        guard text.first?.isWhitespace == true else { return nil }
        text = text.drop(while: \.isWhitespace)
        for box in ["[ ] ", "[x] ", "[X] "] where text.hasPrefix(box) { return text.dropFirst(box.count) }
        return text
    }

    /// "1. Apples", which keeps its number.
    private static func isNumbered(_ line: Substring) -> Bool {
        let rest = line.drop { $0.isASCII && $0.isNumber }
        guard 1...3 ~= line.count - rest.count, let mark = rest.first, mark == "." || mark == ")" else { return false }
        return rest.dropFirst().first?.isWhitespace == true
    }

    /// The cells of a table's row, separated by commas; nil for the line below the head.
    private static func row(_ line: Substring) -> String? {
        let cells = line.split(separator: "|").map { String($0).trimmingSpaces() }.filter { !$0.isEmpty }
        return cells.isEmpty ? nil : cells.joined(separator: ", ")
    }

    /// Replaces `[text](address)` and `![text](address)` by the text, and `<address>` by the address.
    private static func withoutLinks(_ line: Substring) -> String {
        var plain = ""
        var index = line.startIndex
        // A bracket without its end is searched for only once.
        var lacksEnd = false
        while index < line.endIndex {
            let character = line[index]
            let next = line.index(after: index)
            if character == "[" || character == "!" && next < line.endIndex && line[next] == "[", !lacksEnd {
                let open = character == "[" ? index : next
                let start = line.index(after: open)
                guard let close = line[start...].firstIndex(of: "]") else {
                    lacksEnd = true
                    continue
                }
                let after = line.index(after: close)
                if after < line.endIndex, line[after] == "(", let end = linkEnd(line[after...]) {
                    plain += line[start..<close]
                    index = end
                    continue
                }
                // Not a link: everything up to the bracket is text.
                plain += line[index...close]
                index = after
                continue
            }
            if character == "<", let (address, end) = autolink(line[next...]) {
                plain += address
                index = end
                continue
            }
            plain.append(character)
            index = next
        }
        return plain
    }

    /// The longest address that is recognized, in characters.
    private static let addressMax = 2_000

    /// The index after the parenthesis that closes a link's address.
    private static func linkEnd(_ text: Substring) -> Substring.Index? {
        var depth = 0
        for index in text.indices.prefix(addressMax) {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text.index(after: index) }
        }
        return nil
    }

    /// The address of `<https://…>`; empty for a tag such as `<br>`.
    private static func autolink(_ text: Substring) -> (String, Substring.Index)? {
        guard let end = text.prefix(200).firstIndex(of: ">") else { return nil }
        let content = text[..<end]
        let after = text.index(after: end)
        if !content.contains(" "), content.contains("://") || content.contains("@") { return (String(content), after) }
        let tag = content.drop { $0 == "/" }.prefix(while: \.isLetter).lowercased()
        return tags.contains(tag) ? (" ", after) : nil
    }

    private static let tags: Set<String> = [
        "br", "b", "i", "u", "p", "em", "strong", "code", "sub", "sup", "span", "div", "small", "li", "ul",
    ]

    /// Removes `**`, `__`, `~~`, backticks, and single `*` and `_` at the edges of words.
    private static func withoutEmphasis(_ text: String) -> String {
        let characters = Array(text)
        var plain = ""
        var index = 0
        while index < characters.count {
            let mark = characters[index]
            guard "*_~`".contains(mark) else {
                plain.append(mark)
                index += 1
                continue
            }
            var end = index
            while end < characters.count, characters[end] == mark { end += 1 }
            let before = plain.last.map(isWordCharacter) ?? false
            let after = end < characters.count && isWordCharacter(characters[end])
            let isAlone = (plain.last?.isWhitespace ?? true) && (end == characters.count || characters[end].isWhitespace)
            // Inside a word, as in "2*3" and "snake_case", a single mark is text. A tilde begins "~5".
            let isText = mark != "`" && end - index == 1 && (before && after || isAlone || mark == "~")
            if isText { plain.append(mark) }
            index = end
        }
        return plain
    }

    private static func isWordCharacter(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
