/// What the words of an utterance say about whose turn it is. English; texts in other languages are judged by their punctuation only.
enum UtteranceText {
    enum Completeness: Hashable, Sendable {
        /// Ends like a sentence.
        case complete
        /// Ends like a question.
        case question
        /// Ends in the middle of a sentence.
        case incomplete
        case unknown
    }

    /// Words that rarely end a sentence.
    private static let openWords: Set<String> = [
        "a", "an", "the", "and", "or", "but", "so", "because", "if", "when", "while", "that", "which", "who", "to", "of", "in", "on", "at",
        "for", "with", "from", "by", "my", "your", "his", "her", "our", "their", "is", "are", "was", "were", "um", "uh", "er", "erm",
        "like",
        "i", "we", "they", "please",
    ]

    /// What a listener says without taking the turn.
    private static let backchannels: Set<String> = [
        "mm", "mmm", "mhm", "mm-hm", "mm-hmm", "hm", "hmm", "uh-huh", "uh", "um", "ah", "oh", "aha", "yeah", "yep", "yes", "ok", "okay",
        "right", "sure", "i see", "oh okay", "all right", "alright", "huh", "you", "thank you",
    ]

    /// Single words that take the turn, however short they are spoken. Recognizers hear other words in coughs and sighs.
    private static let interruptions: Set<String> = [
        "stop", "wait", "nope", "hey", "hello", "hold", "pause", "quiet", "enough", "when", "where", "which", "sorry", "excuse", "help",
        "next", "back", "cancel", "repeat", "again", "louder", "slower",
    ]

    /// Utterances that are complete in themselves, although they are too short to sound so.
    private static let wholeUtterances: Set<String> = [
        "hello", "hello there", "hello world", "hi", "hi there", "hey", "good morning", "good afternoon", "good evening", "good night",
        "goodbye", "good bye", "good-bye", "bye", "bye bye", "yes", "yes please", "no", "no thanks", "no thank you", "thanks", "thank you",
        "stop", "wait", "help", "help me", "okay", "ok", "sure", "please", "never mind", "cancel", "repeat", "again", "that's all",
        "that's it",
    ]

    /// Sounds that are no words: they never ask for an answer.
    private static let hums: Set<String> = [
        "mm", "mmm", "mhm", "mm-hm", "mm-hmm", "hm", "hmm", "hum", "uh-huh", "uh", "um", "ah", "aha", "huh", "mhmm", "uhm", "er", "erm",
        "oh",
    ]

    private static let numbers: Set<String> = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "hundred",
    ]

    /// What recognizers write for noise and for hums.
    private static let invented: Set<String> = ["you", "and i'm", "i'm", "and", "the", "a", "i", "man", "l", "so"]

    /// Common misrecognitions of "mm-hm".
    private static let nasals: Set<String> = ["mom", "mum", "ma'am", "come", "calm", "man", "am", "i'm"]

    /// Words that recognizers write for a single vowel: Moonshine understands "Oh." as "No.", and "Ah." as "Why?".
    private static let vowels: Set<String> = ["no", "what", "why", "who", "how", "hi", "i"]

    static func completeness(of text: String) -> Completeness {
        let trimmed = text.trimmingSpaces()
        guard let last = trimmed.last else { return .unknown }
        if trimmed.hasSuffix("...") || trimmed.hasSuffix("…") || ["-", "–"].contains(last) { return .incomplete }
        // A question may end with such a word: "Which folder should it go to?"
        if last == "?" { return .question }
        if let word = words(of: trimmed).last, openWords.contains(word) { return .incomplete }
        if last == "," { return .incomplete }
        return [".", "!"].contains(last) ? .complete : .unknown
    }

    /// Whether the text is a greeting, an answer or a command that is complete although it is short.
    static func isWholeUtterance(_ text: String) -> Bool {
        wholeUtterances.contains(words(of: text).joined(separator: " "))
    }

    /// Whether an utterance while the assistant is silent asks for no answer: a hum, "okay", or what recognizers write for noise.
    ///
    /// - Parameters:
    ///   - isShort: whether there was so little speech that words may be invented.
    ///   - isSyllable: whether there was hardly more than a syllable.
    static func isAcknowledgement(_ text: String, isShort: Bool, isSyllable: Bool) -> Bool {
        let spoken = words(of: text)
        // Common misrecognitions of "uh-huh" ("If I"), "oh" ("No.") and "mm-hm" ("Come.").
        if spoken.count <= 2, spoken.allSatisfy(openWords.contains) { return true }
        if isSyllable, spoken.count == 1, spoken[0] == "no" || nasals.contains(spoken[0]) || text.trimmingSpaces().hasSuffix(",") {
            return true
        }
        if spoken.isEmpty || spoken.allSatisfy(hums.contains) { return true }
        let text = spoken.joined(separator: " ")
        let mayBeWord = isWholeUtterance(text) || numbers.contains(text) || text.contains(where: \.isNumber)
        if isShort, invented.contains(text) || (isInventedSyllable(text) && !mayBeWord) { return true }
        // "Yes", "sure" and "thank you" may be meant for the assistant even so.
        return ["ok", "okay", "yeah", "yep", "right", "i see", "oh okay", "all right", "alright", "great", "good", "nice", "cool", "wow"]
            .contains(text)
    }

    /// Whether the text of a very short sound is probably invented: a single word that neither interrupts nor is a backchannel.
    static func isInventedSyllable(_ text: String) -> Bool {
        let spoken = words(of: text)
        return spoken.count == 1 && !interruptions.contains(spoken[0]) && !backchannels.contains(spoken[0]) && !vowels.contains(spoken[0])
    }

    /// Whether the text of a very short sound may stand for a backchannel: a single word that sounds like a vowel.
    static func resemblesBackchannel(_ text: String) -> Bool {
        let spoken = words(of: text)
        return spoken.count == 1 && vowels.contains(spoken[0])
    }

    /// Whether an utterance during the assistant's speech leaves the turn to it: "mm-hm", "okay", or nothing that was understood.
    static func isBackchannel(_ text: String) -> Bool {
        let spoken = words(of: text)
        if spoken.isEmpty { return true }
        return backchannels.contains(spoken.joined(separator: " ")) || (spoken.count <= 3 && spoken.allSatisfy(backchannels.contains))
    }

    /// Whether a text of three words or more consists of what the assistant is saying, in its order: its voice returned by a microphone.
    static func isEcho(_ text: String, of spoken: [String]) -> Bool {
        let words = words(of: text)
        guard words.count >= 3, !spoken.isEmpty else { return false }
        // The longest common subsequence; recognizers get a word wrong now and then.
        var lengths = [Int](repeating: 0, count: spoken.count + 1)
        for word in words {
            var diagonal = 0
            for index in spoken.indices {
                let above = lengths[index + 1]
                lengths[index + 1] = spoken[index] == word ? diagonal + 1 : max(above, lengths[index])
                diagonal = above
            }
        }
        return lengths[spoken.count] * 5 >= words.count * 4
    }

    /// Lower-case words without punctuation, except hyphens and apostrophes within.
    static func words(of text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "-" || $0 == "'" || $0 == "’") }.compactMap { word in
            let bare = word.drop { $0 == "-" || $0 == "'" }
            return bare.isEmpty ? nil : String(bare)
        }
    }
}

extension String {
    func trimmingSpaces() -> String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(self[first...last])
    }
}
