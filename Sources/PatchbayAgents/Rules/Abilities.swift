internal import Wire

/// The assistant's abilities, and the common requests that it declines.
enum Abilities {
    static let unableStart = "I can't do that yet."
    static let unknownStart = "I don't know that."
    private static let abilities = [
        "tell the time in many cities", "tell the date", "count", "calculate", "convert units", "set timers", "remind you of something",
        "tell a joke",
        "flip a coin", "roll dice", "spell words", "count the days until a holiday",
    ]

    /// What a responder without network and devices cannot do: phrases, and an answer.
    private static let limits: [(phrases: [String], answer: String)] = [
        (
            ["weather", "forecast", "temperature outside", "going to rain", "raining", "umbrella", "rain", "snow", "the temperature"],
            "I can't look up the weather, because I work without the internet."
        ),
        (
            ["news", "headlines", "stock", "stocks", "bitcoin", "football", "score"],
            "I can't look that up, because I work without the internet."
        ),
        (
            ["music", "song", "songs", "radio", "playlist", "sing", "spotify", "play some", "play me", "jazz"],
            "I can't play music. I can only talk."
        ),
        (["translate", "translation", "how do you say"], "I can't translate. I speak English only."),
        (
            ["google", "search", "look up", "wikipedia", "internet", "browse", "website"],
            "I can't search, because I work without the internet."
        ),
        (["call my", "phone", "dial", "make a call"], "I can't call anybody."),
        (["email", "e-mail", "text message", "send a message", "whatsapp"], "I can't send messages."),
        (["turn on", "turn off", "switch on", "switch off", "lights", "light", "thermostat"], "I can't control lights or other devices."),
        (["book", "reserve", "order", "buy", "taxi", "pizza"], "I can't book or order anything."),
        (["directions", "navigate", "navigation", "route", "traffic"], "I can't navigate. I don't know where you are."),
        (["where am i", "my location"], "I don't know where you are."),
        (["take a picture", "photo", "camera", "see me"], "I can't see. I only hear you."),
        (
            ["slower", "slowly", "slow down", "faster", "speed up", "too fast", "too slow", "speed"],
            "I can't change how fast I speak. Ask me to say that again, and I'll repeat it."
        ),
        (
            ["louder", "quieter", "volume", "softer", "too loud", "too quiet", "speak up"],
            "I can't change my volume. Please use that of your device."
        ),
        (
            ["change your voice", "another voice", "different voice", "your voice"],
            "I can't change my voice during a call. It is a setting of yours."
        ),
    ]

    /// A tool with "transfer" in its name is called; without one, there is nobody else.
    static func person(_ utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        let people = [
            "person", "human", "human being", "real person", "agent", "operator", "representative", "someone", "somebody", "staff",
            "colleague",
        ]
        let asks = utterance.has(
            "talk to", "speak to", "speak with", "talk with", "connect me", "transfer me", "transfer", "put me through", "get me")
        let isOnlyPerson = utterance.isOne(of: "human", "agent", "operator", "representative", "a human", "real person", "customer service")
        guard (asks && utterance.has(any: people + ["support", "transfer me", "customer service"])) || isOnlyPerson else { return nil }
        if let tool = situation.conversation.tools.first(where: { $0.name.lowercased().contains("transfer") }) {
            return [situation.call(tool, about: utterance)]
        }
        return [.text("There is nobody here but me, so I can't transfer you. Please contact the people who run this service.")]
    }

    static func help(_ utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        guard
            utterance.has(
                "help", "what can you do", "you do for me", "what do you do", "can you do", "what can i ask", "what can i say",
                "your abilities",
                "what are you able", "what else can you", "do math", "do maths"), utterance.words.count <= 10
        else { return nil }
        return [
            .text("I can tell you the time and the date, here and in many cities. "), .text("I count, calculate and convert units. "),
            .text("I set timers and reminders, and tell jokes. "), .text("I repeat what was said, and you can ask me to end the call."),
        ]
    }

    static func limit(_ utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        guard utterance.words.count <= 15, let limit = limits.first(where: { utterance.has(any: $0.phrases) }) else { return nil }
        return [.text(limit.answer)]
    }

    /// "go forward ten meters": asks for a body.
    static func movement(_ utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        guard utterance.starts("go", "move", "turn", "walk", "drive", "run", "jump", "fly", "step", "come", "dance", "swim"),
            2...10 ~= utterance.words.count
        else { return nil }
        let text = utterance.words.indices.map { Perspective.turned(utterance.text($0..<$0 + 1)) }.filter { !$0.isEmpty }.joined(
            separator: " ")
        return [.text("I can't \(text.prefix(1).lowercased())\(text.dropFirst()), because I am only a voice.")]
    }

    /// When no rule applies.
    static func fallback(to utterance: Utterance, in situation: Situation) -> [ResponsePart] {
        let first = Int(situation.chance % UInt64(abilities.count))
        let named = (0..<3).map { abilities[(first + 5 * $0) % abilities.count] }
        let isQuestion = utterance.starts("what", "who", "whose", "where", "why", "how", "which", "when")
        return [.text("\(isQuestion ? unknownStart : unableStart) I can \(named[0]), \(named[1]), or \(named[2]).")]
    }
}
