/// A sentence of a conversation as somebody tells the user of it later: "I need to be there at five" becomes "You need to be there at five".
///
/// That is done in English only and where it is sure to be right; everything else is quoted.
struct Retelling {
    let vocabulary: Vocabulary

    func text(of sentence: Sentence) -> String {
        let core = core(of: sentence)
        if sentence.words.count < 4 { return quoted(core, by: sentence.speaker) }
        guard vocabulary.language == "en" else { return quoted(core, by: sentence.speaker) }
        let told = sentence.speaker == .user ? toldOfUser(core, sentence) : toldOfAssistant(core, sentence)
        return told.map { Self.ended($0.capitalizedFirst) } ?? quotedInEnglish(core, sentence)
    }

    /// Without the words with which people only begin.
    func core(of sentence: Sentence) -> String {
        var start = 0
        let words = sentence.words
        while start < min(words.count - 2, 4), vocabulary.openers.contains(words[start].lower), words[start].lower != "please" {
            // "So" and "well" go always, "good" or "right" only with a comma behind.
            let isLoose = words[start + 1].followsBreak || Self.looseOpeners.contains(words[start].lower)
            guard isLoose else { break }
            start += 1
        }
        guard start < words.count else { return sentence.text }
        return start == 0 ? sentence.text : String(sentence.text[words[start].range.lowerBound...]).capitalizedFirst
    }

    private static let looseOpeners: Set<String> = [
        "so", "well", "and", "but", "um", "uh", "er", "ok", "okay", "then", "also", "hey", "hi", "hello", "und", "aber", "also",
    ]

    private func quoted(_ text: String, by speaker: Turn.Speaker) -> String {
        let phrases = vocabulary.phrases
        let name = speaker == .user ? phrases.user : phrases.assistant
        return "\(name): \(phrases.quotes.open)\(text)\(phrases.quotes.close)"
    }

    private func quotedInEnglish(_ text: String, _ sentence: Sentence) -> String {
        let verb = sentence.isQuestion ? "asked" : "said"
        return "\(sentence.speaker == .user ? "You" : "The assistant") \(verb): “\(text)”"
    }

    private static func ended(_ text: String) -> String {
        var text = text
        while let last = text.last, last == "," || last == " " || last == "!" || last == "?" || last == "." { text.removeLast() }
        return text + "."
    }
}

extension Retelling {
    private static let requests = ["can you please ", "could you please ", "can you ", "could you ", "would you ", "will you ", "please "]
    private static let plural: Set<String> = ["we", "us", "our", "ours", "we're", "we've", "we'll", "let's"]

    private func toldOfUser(_ core: String, _ sentence: Sentence) -> String? {
        let lower = core.lowercased().replacing("’", with: "'")
        if let request = Self.requests.first(where: { lower.hasPrefix($0) }), lower.count == core.count {
            let rest = String(core.dropFirst(request.count))
            return hasPlural(rest) ? nil : "You asked the assistant to " + Self.inSecondPerson(rest, of: .user)
        }
        guard !sentence.isQuestion, !hasPlural(core) else { return nil }
        let words = Word.all(of: core)
        guard let first = words.first else { return nil }
        if vocabulary.taskVerbs.contains(first.lower) || ["remind", "give", "show", "let's"].contains(first.lower), words.count > 2 {
            let rest = first.lower + core[first.range.upperBound...]
            return "You asked the assistant to " + Self.inSecondPerson(rest, of: .user)
        }
        // "You" may be the assistant or anybody.
        if words.contains(where: { $0.lower == "you" || $0.lower.hasPrefix("you'") || $0.lower == "your" }) { return nil }
        return Self.inSecondPerson(core, of: .user)
    }

    private func toldOfAssistant(_ core: String, _ sentence: Sentence) -> String? {
        guard !sentence.isQuestion, !hasPlural(core) else { return nil }
        let words = Word.all(of: core)
        guard let first = words.first else { return nil }
        let own = words.filter { ["i", "me", "my", "i'm", "i've", "i'll", "i'd", "mine"].contains($0.lower) }
        guard let only = own.first else { return core }
        guard own.count == 1, only.isFirst else { return nil }
        let rest = core[first.range.upperBound...].drop { $0 == " " }
        switch first.lower {
        case "i'll": return "The assistant will \(rest)"
        case "i've": return "The assistant has \(rest)"
        case "i'm": return "The assistant is \(rest)"
        case "i":
            guard let verb = words.dropFirst().first?.lower else { return nil }
            if verb == "have" { return "The assistant has" + rest.dropFirst(4) }
            if verb == "am" { return "The assistant is" + rest.dropFirst(2) }
            return verb.hasSuffix("ed") || Self.sameForAll.contains(verb) ? "The assistant \(rest)" : nil
        default: return nil
        }
    }

    private func hasPlural(_ text: String) -> Bool {
        Word.all(of: text).contains { Self.plural.contains($0.lower) }
    }

    private static let sameForAll: Set<String> = [
        "will", "can", "could", "would", "should", "may", "might", "had", "was", "found", "set", "sent", "made", "put", "got", "took",
        "saw", "told",
        "wrote", "spoke", "kept", "left", "did", "just",
    ]

    private static let secondPerson = [
        "i": "you", "i'm": "you're", "i've": "you've", "i'll": "you'll", "i'd": "you'd", "me": "you", "my": "your", "our": "your",
        "mine": "yours",
        "myself": "yourself",
    ]

    /// First person to second, where the user speaks; what the assistant says is in the user's second person already.
    static func inSecondPerson(_ text: String, of speaker: Turn.Speaker) -> String {
        guard speaker == .user else { return text }
        var told = ""
        var place = text.startIndex
        var followsSubject = false
        // Ideographs' words overlap.
        for word in Word.all(of: text) where word.range.lowerBound >= place {
            told += text[place..<word.range.lowerBound]
            place = word.range.upperBound
            if followsSubject, word.lower == "am" || word.lower == "was" {
                told += word.lower == "am" ? "are" : "were"
            } else if let replacement = secondPerson[word.lower] {
                told += word.isFirst && word.isCapitalized ? replacement.capitalizedFirst : replacement
            } else {
                told += word.text
            }
            followsSubject = word.lower == "i"
        }
        return told + text[place...]
    }
}
