/// What the conversation remembers: repeats what was said, on request or word by word, and keeps the user's name.
enum Memory {
    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        sayAgain(utterance, situation) ?? recall(utterance, situation) ?? usersName(utterance, situation)
    }

    /// "repeat after me …", "say …": says what follows.
    static func repeatAfter(_ utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        let again = ["again", "that", "it", "something", "that again", "it again", "this again", "what", "more", "yourself", "please"]
        for prefix in ["repeat after me", "repeat the words", "repeat the sentence", "say", "repeat"] where utterance.starts(prefix) {
            let count = prefix.split(separator: " ").count
            guard count < utterance.words.count else { return nil }
            let rest = utterance.words[count...].joined(separator: " ")
            guard !again.contains(rest) || (rest == "please" && prefix == "say"), !rest.hasPrefix("that "), !rest.hasPrefix("what "),
                !rest.hasPrefix("your "),
                rest != "my name", !rest.hasPrefix("the last"), !rest.hasPrefix("the alphabet"), !rest.hasPrefix("something ")
            else { return nil }
            return [.text(utterance.sentence(from: count))]
        }
        return nil
    }

    // MARK: What was said

    private static func sayAgain(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let asks =
            utterance.has(
                "say that again", "say it again", "say again", "repeat that", "repeat it", "repeat yourself", "repeat your",
                "repeat what you",
                "repeat the last", "what did you say", "what did you just say", "what was that", "tell me again", "pardon", "come again",
                "once again",
                "one more time", "did not hear", "did not understand", "did not catch", "did not get that", "what you said")
            || utterance.isOne(of: "again", "repeat", "what", "sorry", "excuse me", "huh", "please repeat", "once more", "say what")
        guard asks, utterance.words.count <= 12 else { return nil }
        if utterance.has("first") {
            return [.text(situation.answers.first.map { "First, I said: \(Utterance.sentence($0))" } ?? "I have not said anything yet.")]
        }
        return [.text(situation.lastAnswer ?? "I have not said anything yet.")]
    }

    private static func recall(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let asks = utterance.has(
            "did i say", "did i ask", "did i just", "did i tell", "i said before", "i said first", "i asked first", "remember what i",
            "was my first",
            "was my last", "what i said", "what i asked", "i just said", "i just asked", "do you remember")
        guard asks, !utterance.has("my name") else { return nil }
        if utterance.has("first") {
            return [
                .text(
                    situation.questions.first.map { "First, you said: \(Utterance.sentence($0))" }
                        ?? "This is the first thing you have said to me.")
            ]
        }
        return [
            .text(
                situation.questions.last.map { "Before that, you said: \(Utterance.sentence($0))" }
                    ?? "This is the first thing you have said to me.")
        ]
    }

    // MARK: Names

    private static let nationalities: Set = [
        "American", "Australian", "Austrian", "British", "Canadian", "Chinese", "Dutch", "English", "French", "German", "Indian", "Irish",
        "Italian", "Japanese", "Korean", "Polish", "Russian", "Scottish", "Spanish", "Swedish", "Swiss", "Turkish", "Ukrainian",
    ]

    private static func usersName(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        if utterance.has("what is my name", "who am i", "know my name", "remember my name", "say my name", "my name again") {
            let told = situation.questions.reversed().lazy.compactMap { name(in: Utterance($0)) }.first
            let known = told ?? (situation.conversation.userName.isEmpty ? nil : situation.conversation.userName)
            return [.text(known.map { "Your name is \($0)." } ?? "You have not told me your name yet.")]
        }
        guard let name = name(in: utterance) else { return nil }
        return [.text("Nice to meet you, \(name).")]
    }

    /// "my name is Anna", "call me Anna".
    private static func name(in utterance: Utterance) -> String? {
        for phrase in ["my name is", "call me", "i am called"] {
            guard let start = utterance.end(of: phrase), start < utterance.words.count else { continue }
            guard phrase == "my name is" || (utterance.starts(phrase) && utterance.words.count - start <= 2) else { continue }
            let word = utterance.text(start..<start + 1).filter { $0.isLetter || $0 == "-" || $0 == "'" }
            guard !word.isEmpty, !["not", "what", "back", "a", "an", "later", "in", "when"].contains(word.lowercased()) else { continue }
            return word.capitalizedFirst
        }
        // "I'm Anna", in which the recognizer writes a capital letter.
        guard utterance.starts("i am"), utterance.words.count == 3 else { return nil }
        let word = utterance.text(2..<3)
        return word.first?.isUppercase == true && word.allSatisfy(\.isLetter) && !nationalities.contains(word) ? word : nil
    }
}
