internal import Foundation
internal import Wire

internal import struct Foundation.Date

/// A responder without a language model: answers a few kinds of requests by rules, in English.
///
/// It makes an assistant usable without network, and tests deterministic. It greets, tells time and date, counts, repeats, remembers names and
/// what was said, says what it is, uses the session's context, calls tools that are named, and ends the call on request.
public struct RulesResponder: Responder {
    private let name: String
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - name: what the assistant calls itself.
    public init(name: String = "the Patchbay assistant") {
        self.init(name: name) { Date() }
    }

    init(name: String, now: @escaping @Sendable () -> Date) {
        self.name = name
        self.now = now
    }

    public var isWorthPreparing: Bool { false }

    public func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
        let parts = RuleBook(conversation: conversation, name: name, now: now()).respond()
        return AsyncThrowingStream { stream in
            for part in parts { stream.yield(part) }
            stream.finish()
        }
    }
}

/// The rules of `RulesResponder`, in order: the first one that applies responds. A pure value.
struct RuleBook {
    let conversation: Conversation
    let name: String
    let now: Date

    func respond() -> [ResponsePart] {
        switch conversation.messages.last {
        case .toolResult(_, let result)?: [.text(result.isEmpty ? "That's done." : Self.sentence(result))]
        case .digits(let digits)?: [.text("You pressed \(digits.map(String.init).joined(separator: " ")).")]
        case .user(let text)?: respond(to: text)
        case .assistant?, nil: [.text("How can I help you?")]
        }
    }

    private func respond(to text: String) -> [ResponsePart] {
        let words = UtteranceText.words(of: text)
        for rule in [goodbye, tool, time, date, count, repeatBack, ownName, usersName, memory, context, help, thanks, greeting] {
            if let parts = rule(text, words) { return parts }
        }
        return [.text(Self.echo(of: text))]
    }

    // MARK: Rules

    private func goodbye(_ text: String, _ words: [String]) -> [ResponsePart]? {
        let isGoodbye = Self.contains(words, any: ["goodbye", "good bye", "bye", "hang up", "end the call", "that's all", "that is all"])
        return isGoodbye && words.count <= 8 ? [.text("Goodbye, and have a nice day."), .endCall] : nil
    }

    private func tool(_ text: String, _ words: [String]) -> [ResponsePart]? {
        for tool in conversation.tools {
            let named = tool.name.split { $0 == "_" || $0 == "-" }.map { $0.lowercased() }
            guard !named.isEmpty, named.allSatisfy(words.contains) else { continue }
            let arguments = (try? JSON.encode(["text": text], names: .asDeclared)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
            let id = "call_\(conversation.messages.count)"
            return [.toolCall(ToolCall(id: id, name: tool.name, arguments: arguments))]
        }
        return nil
    }

    private func time(_ text: String, _ words: [String]) -> [ResponsePart]? {
        guard Self.contains(words, any: ["what time", "the time", "o'clock"]) else { return nil }
        let parts = Calendar.current.dateComponents([.hour, .minute], from: now)
        let (hour, minute) = (parts.hour ?? 0, parts.minute ?? 0)
        let spoken =
            minute == 0 ? "\((hour + 11) % 12 + 1) o'clock" : "\((hour + 11) % 12 + 1) \(minute < 10 ? "oh \(minute)" : "\(minute)")"
        return [.text("It is \(spoken) \(hour < 12 ? "in the morning" : hour < 18 ? "in the afternoon" : "in the evening").")]
    }

    private func date(_ text: String, _ words: [String]) -> [ResponsePart]? {
        guard Self.contains(words, any: ["what day", "what date", "the date", "today's date"]) else { return nil }
        let style = Date.FormatStyle(locale: Locale(identifier: "en_US")).weekday(.wide).month(.wide).day()
        return [.text("Today is \(now.formatted(style)).")]
    }

    private func count(_ text: String, _ words: [String]) -> [ResponsePart]? {
        guard words.contains("count") else { return nil }
        let numbers = words.compactMap { Int($0) ?? Self.numbers[$0] }
        let end = min(max(numbers.max() ?? 10, 1), 100)
        let start = numbers.count > 1 ? min(numbers.min() ?? 1, end) : 1
        return [.text((start...end).map { "\($0)" }.joined(separator: ", ") + ".")]
    }

    private func repeatBack(_ text: String, _ words: [String]) -> [ResponsePart]? {
        for prefix in ["repeat after me", "please say", "say", "repeat"] {
            let parts = prefix.split(separator: " ").map(String.init)
            guard words.starts(with: parts), words.count > parts.count else { continue }
            let spoken = text.split(separator: " ").dropFirst(parts.count).joined(separator: " ")
            return [.text(Self.sentence(spoken))]
        }
        return nil
    }

    private func ownName(_ text: String, _ words: [String]) -> [ResponsePart]? {
        guard Self.contains(words, any: ["who are you", "what are you", "your name"]) else { return nil }
        return [.text("I am \(name), a voice assistant. You can interrupt me at any time.")]
    }

    private func usersName(_ text: String, _ words: [String]) -> [ResponsePart]? {
        if Self.contains(words, any: ["my name is"]), let name = Self.word(after: ["my", "name", "is"], in: text) {
            return [.text("Nice to meet you, \(name).")]
        }
        guard Self.contains(words, any: ["what is my name", "what's my name", "who am i"]) else { return nil }
        let told = conversation.messages.reversed().lazy.compactMap { message -> String? in
            guard case .user(let text) = message else { return nil }
            return Self.word(after: ["my", "name", "is"], in: text)
        }.first
        let known = told ?? (conversation.userName.isEmpty ? nil : conversation.userName)
        return [.text(known.map { "Your name is \($0)." } ?? "You have not told me your name yet.")]
    }

    private func memory(_ text: String, _ words: [String]) -> [ResponsePart]? {
        guard Self.contains(words, any: ["did i say", "did i ask", "i said before", "remember"]) else { return nil }
        let earlier = conversation.messages.dropLast().reversed().lazy.compactMap { message -> String? in
            if case .user(let text) = message { text } else { nil }
        }.first
        return [.text(earlier.map { "Before that, you said: \(Self.sentence($0))" } ?? "This is the first thing you have said to me.")]
    }

    private func context(_ text: String, _ words: [String]) -> [ResponsePart]? {
        guard Self.contains(words, any: ["context", "on my screen", "last time", "what do you know"]) else { return nil }
        let known = conversation.instructions.split(separator: "\n").last.map(String.init) ?? ""
        return [.text(known.isEmpty ? "I know nothing about this session yet." : "This is what I know: \(Self.sentence(known))")]
    }

    private func help(_ text: String, _ words: [String]) -> [ResponsePart]? {
        guard Self.contains(words, any: ["help", "what can you do", "can you do"]) else { return nil }
        return [
            .text("I can tell you the time and the date. "), .text("I can count, and repeat what you say. "),
            .text("I remember your name, and you can ask me to end the call."),
        ]
    }

    private func thanks(_ text: String, _ words: [String]) -> [ResponsePart]? {
        Self.contains(words, any: ["thank you", "thanks"]) && words.count <= 6 ? [.text("You're welcome.")] : nil
    }

    private func greeting(_ text: String, _ words: [String]) -> [ResponsePart]? {
        let isGreeting = ["hello", "hi", "hey", "good morning", "good evening"].contains { Self.starts(words, with: $0) }
        return isGreeting && words.count <= 5 ? [.text("Hello. How can I help you?")] : nil
    }

    // MARK: Words

    private static let numbers: [String: Int] = [
        "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
        "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
    ]

    private static func contains(_ words: [String], any phrases: [String]) -> Bool {
        let text = " " + words.joined(separator: " ") + " "
        return phrases.contains { text.contains(" \($0) ") }
    }

    private static func starts(_ words: [String], with phrase: String) -> Bool {
        words.starts(with: phrase.split(separator: " ").map(String.init))
    }

    private static func word(after phrase: [String], in text: String) -> String? {
        let written = text.split(separator: " ").map(String.init)
        let plain = written.map { $0.lowercased().filter(\.isLetter) }
        for start in plain.indices where plain[start...].starts(with: phrase) && start + phrase.count < written.count {
            let word = written[start + phrase.count].filter { $0.isLetter || $0 == "-" || $0 == "'" }
            return word.isEmpty ? nil : word
        }
        return nil
    }

    private static func echo(of text: String) -> String {
        let spoken = text.split(separator: "\n").joined(separator: " ")
        return "You said: \(sentence(String(spoken.prefix(400))))"
    }

    private static func sentence(_ text: String) -> String {
        var trimmed = text.trimmingSpaces()
        while let last = trimmed.last, [",", ";", ":", "-"].contains(last) { trimmed.removeLast() }
        return trimmed.last.map { [".", "!", "?"].contains($0) } == true ? trimmed : trimmed + "."
    }
}
