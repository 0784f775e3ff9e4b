internal import Wire

/// The rules of `RulesResponder`, in order: the first one that applies responds. A pure value.
struct RuleBook: Sendable {
    typealias Rule = @Sendable (Utterance, Situation) -> [ResponsePart]?

    /// Lines of one message that are answered; consecutive utterances are lines of one message.
    private static let linesMax = 8

    /// Specific rules come before general ones: a reminder may name a time, and a sentence to be repeated anything.
    private static let rules: [Rule] = [
        goodbye, tool, Counting.respond, Memory.repeatAfter, Timers.respond, Abilities.person, Memory.respond, Arithmetic.respond,
        UnitConversion.respond, CalendarDays.respond, Clock.respond, Games.respond, Abilities.help, context, Abilities.limit,
        SmallTalk.respond,
        Abilities.movement,
    ]

    let situation: Situation

    func respond() -> [ResponsePart] {
        switch situation.conversation.messages.last {
        case .toolResult(_, let result)?: [.text(result.isEmpty ? "That's done." : Utterance.sentence(result))]
        case .digits(let digits)?: [.text("You pressed \(digits.map(String.init).joined(separator: " ")).")]
        case .user(let text)?: respond(to: text)
        case .assistant?, nil: [.text("How can I help you?")]
        }
    }

    private func respond(to text: String) -> [ResponsePart] {
        let lines = text.split(whereSeparator: \.isNewline).suffix(Self.linesMax).map(withoutSpeaker)
        let answers = lines.compactMap { answer(to: $0) }
        // A pause may have divided a sentence.
        if answers.count < lines.count, lines.count > 1, let whole = answer(to: lines.joined(separator: " ")) { return whole }
        return answers.isEmpty ? Abilities.fallback(to: Utterance(lines.last ?? ""), in: situation) : Self.merged(answers)
    }

    private func answer(to text: String) -> [ResponsePart]? {
        let utterance = completed(Utterance(text))
        guard !utterance.words.isEmpty else { return nil }
        for rule in Self.rules { if let parts = rule(utterance, situation) { return parts } }
        return nil
    }

    /// A time alone answers the assistant's question for one.
    private func completed(_ utterance: Utterance) -> Utterance {
        guard let question = situation.lastAnswer, let request = situation.questions.last, Timers.questions.contains(question),
            utterance.words.count <= 8, SpokenDuration.find(in: utterance.words) != nil || TimeOfDay.find(in: utterance.words) != nil
        else { return utterance }
        return Utterance("\(Utterance(request).text(0...)) \(utterance.text(0...))")
    }

    /// With several users, messages name their speaker.
    private func withoutSpeaker(_ line: Substring) -> String {
        let name = situation.conversation.userName
        return String(!name.isEmpty && line.hasPrefix("\(name): ") ? line.dropFirst(name.count + 2) : line)
    }

    /// Answers one after the other; what follows a tool call waits for its result, and is omitted.
    private static func merged(_ answers: [[ResponsePart]]) -> [ResponsePart] {
        var parts: [ResponsePart] = []
        for answer in answers {
            if !parts.isEmpty { parts.append(.text(" ")) }
            parts += answer
            if answer.contains(where: { if case .toolCall = $0 { true } else { false } }) { break }
        }
        return parts
    }

    // MARK: Rules about the call

    private static func goodbye(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let isGoodbye = utterance.has("goodbye", "good bye", "bye", "bye-bye", "hang up", "end the call", "that is all", "see you later")
        return isGoodbye && utterance.words.count <= 8 ? [.text("Goodbye, and have a nice day."), .endCall] : nil
    }

    /// A tool is called if all words of its name are said.
    private static func tool(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        for tool in situation.conversation.tools {
            let named = tool.name.split { $0 == "_" || $0 == "-" }.map { $0.lowercased() }
            if !named.isEmpty, named.allSatisfy(utterance.words.contains) { return [situation.call(tool, about: utterance)] }
        }
        return nil
    }

    private static func context(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        guard utterance.has("context", "on my screen", "last time", "what do you know") else { return nil }
        let known = situation.conversation.instructions.split(separator: "\n").last.map(String.init) ?? ""
        return [.text(known.isEmpty ? "I know nothing about this session yet." : "This is what I know: \(Utterance.sentence(known))")]
    }
}
