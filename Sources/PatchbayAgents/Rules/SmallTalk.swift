/// Phrases with fixed answers: about the assistant, courtesies, short replies.
enum SmallTalk {
    private struct Entry: Sendable {
        let phrases: [String]
        let answers: [String]
        /// Longer utterances are about something else.
        var wordsMax = 8
    }

    private static let table: [Entry] = [
        // About the assistant.
        Entry(
            phrases: ["how are you", "how is it going", "how do you feel", "how are things", "how do you do", "what is up"],
            answers: ["I'm fine, thank you. How can I help you?", "Very well, thank you. What can I do for you?"]),
        Entry(
            phrases: [
                "who made you", "who built you", "who created you", "who wrote you", "who programmed you", "where do you come from",
                "your creator",
            ],
            answers: ["I am part of Patchbay, a media gateway for voice assistants. Its developers made me."]),
        Entry(
            phrases: [
                "are you a robot", "are you human", "are you a human", "are you real", "are you a person", "are you alive", "are you an ai",
                "are you a machine", "are you a real person", "are you a computer", "are you a bot",
            ],
            answers: ["I am a computer program. I recognize what you say, and answer by rules."]),
        Entry(
            phrases: ["chatgpt", "language model", "artificial intelligence", "gpt", "which model", "what model", "how do you work"],
            answers: ["I answer by rules, without a language model. Recognition and speech run on this machine."], wordsMax: 12),
        Entry(
            phrases: [
                "hear me", "are you there", "anybody there", "anyone there", "are you listening", "is anyone there", "are you still there",
            ],
            answers: ["Yes, I hear you."]),
        Entry(phrases: ["testing", "test", "one two three", "mic check"], answers: ["I hear you. It works."], wordsMax: 5),
        Entry(
            phrases: ["do you sleep", "are you tired", "where do you live", "where are you"],
            answers: ["I live on a computer, and I never sleep."]),
        Entry(
            phrases: ["how old are you", "your age", "your birthday", "when were you born"], answers: ["I was born when this call began."]),
        Entry(
            phrases: ["record me", "recording me", "recording this", "are you recording", "is this recorded", "recording"],
            answers: ["I don't know. Your client shows a notice if conversations are kept."]),
        Entry(
            phrases: [
                "which languages", "what languages", "what language", "speak german", "speak french", "speak spanish", "speak english",
                "do you speak", "in german", "in french", "in spanish", "deutsch", "español", "français",
            ],
            answers: ["I speak and understand English only."]),
        Entry(phrases: ["meaning of life"], answers: ["Forty-two, according to a famous book."]),
        Entry(phrases: ["i love you", "marry me", "i like you"], answers: ["That is kind of you. I like to be useful."]),
        Entry(
            phrases: [
                "you are great", "you are smart", "you are funny", "good job", "well done", "very good", "that is funny", "nice work",
                "awesome",
            ],
            answers: ["Thank you.", "Thank you, that is kind."]),
        Entry(
            phrases: [
                "you are stupid", "you are dumb", "you are useless", "that is wrong", "you are wrong", "that was wrong", "i hate you",
                "bad answer",
            ],
            answers: ["I'm sorry. Please tell me again what you need."]),
        Entry(phrases: ["nice to meet you", "pleased to meet you"], answers: ["Nice to meet you, too."]),
        Entry(
            phrases: ["what is this", "what is patchbay"],
            answers: ["This is Patchbay, a media gateway for voice assistants. You are talking to its built-in assistant."], wordsMax: 5),
        Entry(
            phrases: ["i am hungry", "i am sad", "i am tired", "i am sick", "i feel bad"],
            answers: ["I'm sorry to hear that. A joke may help. Just ask for one."]),
        Entry(
            phrases: ["say something", "talk to me"], answers: ["I am listening. Ask me for a joke, or for the time in Tokyo."], wordsMax: 4
        ),
        Entry(phrases: ["game", "games"], answers: ["I can flip a coin, roll dice, or play rock, paper, scissors."]),
        // Conduct.
        Entry(
            phrases: ["hold on", "one moment", "wait a", "just a moment", "just a second", "give me a moment", "wait", "a moment"],
            answers: ["Take your time."], wordsMax: 4),
        Entry(
            phrases: [
                "stop", "never mind", "nevermind", "be quiet", "shut up", "quiet", "enough", "cancel", "forget it", "forget that",
                "no more", "silence",
            ],
            answers: ["Okay."], wordsMax: 4),
        Entry(
            phrases: ["go on", "go ahead", "continue", "carry on", "keep going"], answers: ["I was done. What can I do for you?"],
            wordsMax: 3),
        Entry(phrases: ["thank you", "thanks", "thank"], answers: ["You're welcome."], wordsMax: 6),
        Entry(phrases: ["sorry", "i am sorry", "my mistake"], answers: ["No problem."], wordsMax: 4),
        Entry(phrases: ["good night"], answers: ["Good night. Say goodbye to end the call."], wordsMax: 4),
    ]

    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        if utterance.has("who are you", "what are you", "your name", "what do i call you", "introduce yourself"), utterance.words.count <= 8
        {
            return [.text("I am \(situation.name), a voice assistant. You can interrupt me at any time.")]
        }
        for entry in table where utterance.words.count <= entry.wordsMax && utterance.has(any: entry.phrases) {
            return [.text(situation.pick(entry.answers))]
        }
        return greeting(utterance, situation) ?? reply(utterance, situation)
    }

    private static func greeting(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let isGreeting = utterance.starts(
            "hello", "hi", "hey", "good morning", "good evening", "good afternoon", "greetings", "howdy", "hallo", "good day")
        guard isGreeting, utterance.words.count <= 5 else { return nil }
        let daytime = ["good morning", "good afternoon", "good evening"].first { utterance.starts($0) }
        return [.text("\(daytime.map { $0.prefix(1).uppercased() + $0.dropFirst() } ?? "Hello"). How can I help you?")]
    }

    /// Yes or no, to a question or to none.
    private static func reply(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        guard utterance.words.count <= 4 else { return nil }
        let wasQuestion = situation.lastAnswer?.hasSuffix("?") == true
        if utterance.starts("yes", "yeah", "yep", "sure", "of course", "i am here", "i am still here", "right") {
            return [.text(wasQuestion ? "Good. What can I do for you?" : "All right.")]
        }
        if utterance.starts("no", "nope", "nothing", "not really", "no thanks") {
            return [.text(wasQuestion ? "All right. Say goodbye when you are done." : "Okay.")]
        }
        return utterance.isOne(of: "okay", "all right", "good", "great", "nice", "cool", "fine", "perfect", "i see")
            ? [.text("Good.")] : nil
    }
}
