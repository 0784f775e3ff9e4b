/// One word of a sentence.
struct Word {
    /// As it was said.
    var text: String
    /// In small letters, with a straight apostrophe.
    var lower: String
    /// What inflections of one word have in common, roughly.
    var stem: String
    /// Whether a comma or the like stands before it.
    var followsBreak: Bool
    var isFirst: Bool
    /// Where it stands in the sentence.
    var range: Range<String.Index>

    var isCapitalized: Bool { text.first?.isUppercase == true }
    var isNumber: Bool { text.first?.isNumber == true }
    /// 7:40, 19.30.
    var isClock: Bool { isNumber && text.dropFirst().contains { $0 == ":" || $0 == "." } && text.count <= 5 }
    /// `they` of `they're`.
    var head: Substring { lower.prefix { $0 != "'" } }

    static func all(of sentence: String) -> [Word] {
        var words: [Word] = []
        var current = ""
        var start = sentence.startIndex
        var followsBreak = false
        func end() {
            let trimmed = current.trimmingJoiners()
            current = ""
            guard !trimmed.isEmpty else { return }
            let lower = trimmed.lowercased().replacing("’", with: "'")
            let range = start..<sentence.index(start, offsetBy: trimmed.count)
            words.append(
                Word(text: trimmed, lower: lower, stem: stem(lower), followsBreak: followsBreak, isFirst: words.isEmpty, range: range))
            followsBreak = false
        }
        for (index, character) in zip(sentence.indices, sentence) {
            if current.isEmpty { start = index }
            if character.isIdeographic {
                // Written without spaces: two neighbours at a time stand for a word.
                if let last = current.last, last.isIdeographic, current.count == 2 {
                    end()
                    current = String(last)
                    start = sentence.index(before: index)
                } else if current.last?.isIdeographic == false {
                    end()
                    start = index
                }
                current.append(character)
            } else if character.isLetter || character.isNumber || isJoiner(character) && !current.isEmpty {
                if current.last?.isIdeographic == true {
                    end()
                    start = index
                }
                current.append(character)
            } else {
                end()
                if !character.isWhitespace { followsBreak = true }
            }
        }
        end()
        return words
    }

    private static func isJoiner(_ character: Character) -> Bool {
        character == "'" || character == "’" || character == "-" || character == "." || character == ":"
    }

    /// Good enough to see that `flights` and `flight` are the same thing, in any language with endings.
    static func stem(_ word: String) -> String {
        var stem = Substring(word)
        if stem.hasSuffix("'s") { stem.removeLast(2) }
        guard stem.count > 4, stem.first?.isNumber != true else { return String(stem) }
        for (ending, replacement) in [("ies", "y"), ("ings", ""), ("ing", ""), ("ed", ""), ("en", ""), ("es", ""), ("s", ""), ("e", "")]
        where stem.hasSuffix(ending) && stem.count - ending.count >= 3 && !stem.hasSuffix("ss") {
            return String(stem.dropLast(ending.count)) + replacement
        }
        return String(stem)
    }
}

extension Character {
    /// Han, kana and Hangul syllables are not; Korean has spaces.
    var isIdeographic: Bool {
        guard let scalar = unicodeScalars.first?.value else { return false }
        return 0x3040...0x30FF ~= scalar || 0x3400...0x9FFF ~= scalar || 0xF900...0xFAFF ~= scalar || 0x2_0000...0x3_FFFF ~= scalar
    }
}

extension String {
    fileprivate func trimmingJoiners() -> String {
        var rest = Substring(self)
        while let last = rest.last, !last.isLetter, !last.isNumber { rest.removeLast() }
        return String(rest)
    }
}
