extension AssistantMessage {
    /// Parses the payload of a data message with the topic `topic`.
    ///
    /// - Throws: `AssistantMessageError` for anything but a known type with exactly its members, within `Limits`.
    public init(parsing payload: [UInt8]) throws(AssistantMessageError) {
        guard payload.count <= Self.bytesMax else { throw AssistantMessageError("the message has more than \(Self.bytesMax) bytes") }
        let value: JSONValue
        do throws(DecodingError) {
            value = try JSONValue(parsing: payload, depthMax: 8)
        } catch {
            throw AssistantMessageError("the message is not JSON, or repeats a name")
        }
        let message = try Members(value, of: "the message", ["type", "data"])
        let type = try message.text("type", Limits.nameMax)
        switch type {
        case "tool.started":
            let data = try message.members("data", ["id", "name"])
            self = .toolStarted(id: try data.id("id"), name: try data.name())
        case "tool.finished":
            let data = try message.members("data", ["id", "name"])
            self = .toolFinished(id: try data.id("id"), name: try data.name())
        case "tool.failed":
            let data = try message.members("data", ["id", "name", "message", "retry"])
            self = .toolFailed(
                id: try data.id("id"), name: try data.name(), message: try data.text("message", Limits.messageMax),
                retry: try data.boolean("retry"))
        case "card": self = .card(try AssistantCard(message.members("data", ["id", "kind", "title", "body", "actions"])))
        case "card.action": self = .cardAction(try CardAction(message.members("data", ["card", "action", "fields"])))
        case "turn.metrics":
            let names = [
                "turn", "end_of_turn_ms", "recognition_ms", "first_token_ms", "first_audio_ms", "voice_to_voice_ms", "interrupted",
            ]
            self = .turnMetrics(try TurnMetrics(message.members("data", names)))
        case "onboarding.start":
            _ = try message.members("data", [])
            self = .onboardingStart
        case "onboarding.finished": self = .onboardingFinished(completed: try message.members("data", ["completed"]).boolean("completed"))
        case "language.limited": self = .languageLimited(try LanguageLimit(message.members("data", ["language", "spoken", "understood"])))
        default: throw AssistantMessageError("the type \"\(type)\" is unknown")
        }
    }

    /// The payload.
    ///
    /// - Throws: `AssistantMessageError` if a field is beyond its limit, so that no receiver refuses what was sent.
    public func payload() throws(AssistantMessageError) -> String {
        let value: JSONValue = ["type": .string(type), "data": data]
        guard let bytes = try? JSON.encode(value, names: .asDeclared) else {
            preconditionFailure("texts and booleans can be encoded")
        }
        _ = try AssistantMessage(parsing: bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private var type: String {
        switch self {
        case .toolStarted: "tool.started"
        case .toolFinished: "tool.finished"
        case .toolFailed: "tool.failed"
        case .card: "card"
        case .turnMetrics: "turn.metrics"
        case .cardAction: "card.action"
        case .onboardingStart: "onboarding.start"
        case .onboardingFinished: "onboarding.finished"
        case .languageLimited: "language.limited"
        }
    }

    private var data: JSONValue {
        switch self {
        case .toolStarted(let id, let name), .toolFinished(let id, let name): ["id": .string(id), "name": .string(name)]
        case .toolFailed(let id, let name, let message, let retry):
            ["id": .string(id), "name": .string(name), "message": .string(message), "retry": .boolean(retry)]
        case .card(let card):
            [
                "id": .string(card.id), "kind": .string(card.kind.rawValue), "title": .string(card.title), "body": .string(card.body),
                "actions": .array(card.actions.map { ["id": .string($0.id), "title": .string($0.title)] }),
            ]
        case .turnMetrics(let metrics): metrics.json
        case .onboardingStart: .object([])
        case .onboardingFinished(let completed): ["completed": .boolean(completed)]
        case .languageLimited(let limit):
            ["language": .string(limit.language), "spoken": .string(limit.spoken), "understood": .string(limit.understood)]
        case .cardAction(let action):
            .object(
                [.init("card", .string(action.card)), .init("action", .string(action.action))]
                    + (action.fields.map { fields in
                        // Sorted, because the order of a dictionary differs between processes.
                        [.init("fields", .object(fields.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }))]
                    } ?? []))
        }
    }
}

extension AssistantCard {
    fileprivate init(_ data: Members) throws(AssistantMessageError) {
        let word = try data.text("kind", AssistantMessage.Limits.nameMax)
        guard let kind = Kind(rawValue: word) else {
            throw AssistantMessageError("kind must be one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        var actions: [Action] = []
        for element in try data.elements("actions", AssistantMessage.Limits.actionsCountMax) {
            let action = try Members(element, of: "an action", ["id", "title"])
            let id = try action.id("id")
            guard !actions.contains(where: { $0.id == id }) else { throw AssistantMessageError("two actions have the same id") }
            actions.append(Action(id: id, title: try action.text("title", AssistantMessage.Limits.titleMax)))
        }
        self.init(
            id: try data.id("id"), kind: kind, title: try data.text("title", AssistantMessage.Limits.titleMax),
            body: try data.text("body", AssistantMessage.Limits.bodyMax), actions: actions)
    }
}

extension LanguageLimit {
    fileprivate init(_ data: Members) throws(AssistantMessageError) {
        func tag(_ name: String) throws(AssistantMessageError) -> String {
            let text = try data.text(name, LanguageTag.bytesMax)
            guard LanguageTag.isValid(text) else { throw AssistantMessageError("\(name) is no language tag") }
            return text
        }
        self.init(language: try tag("language"), spoken: try tag("spoken"), understood: try tag("understood"))
    }
}

extension TurnMetrics {
    fileprivate init(_ data: Members) throws(AssistantMessageError) {
        self.init(
            turn: try data.number("turn") ?? 0, endOfTurnMs: try data.number("end_of_turn_ms"),
            recognitionMs: try data.number("recognition_ms"), firstTokenMs: try data.number("first_token_ms"),
            firstAudioMs: try data.number("first_audio_ms"), voiceToVoiceMs: try data.number("voice_to_voice_ms"),
            interrupted: try data.boolean("interrupted"))
    }

    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [.init("turn", .integer(Int64(turn)))]
        let spans = [
            ("end_of_turn_ms", endOfTurnMs), ("recognition_ms", recognitionMs), ("first_token_ms", firstTokenMs),
            ("first_audio_ms", firstAudioMs), ("voice_to_voice_ms", voiceToVoiceMs),
        ]
        for (name, span) in spans { if let span { members.append(.init(name, .integer(Int64(span)))) } }
        return .object(members + [.init("interrupted", .boolean(interrupted))])
    }
}

extension CardAction {
    fileprivate init(_ data: Members) throws(AssistantMessageError) {
        self.init(card: try data.id("card"), action: try data.id("action"), fields: try data.texts("fields"))
    }
}

/// Reads an object that has the given members and no others.
private struct Members {
    private let value: JSONValue

    init(_ value: JSONValue, of what: String, _ names: [String]) throws(AssistantMessageError) {
        guard case .object(let members) = value else { throw AssistantMessageError("\(what) is not an object") }
        if let stranger = members.first(where: { !names.contains($0.name) }) {
            throw AssistantMessageError("\(what) has an unknown member \"\(stranger.name.prefix(64))\"")
        }
        self.value = value
    }

    func members(_ name: String, _ names: [String]) throws(AssistantMessageError) -> Members {
        try Members(try required(name), of: name, names)
    }

    func text(_ name: String, _ bytesMax: Int) throws(AssistantMessageError) -> String {
        guard case .string(let text) = try required(name) else { throw AssistantMessageError("\(name) is not a string") }
        guard text.utf8.count <= bytesMax else { throw AssistantMessageError("\(name) has more than \(bytesMax) bytes") }
        return text
    }

    func id(_ name: String) throws(AssistantMessageError) -> String {
        let id = try text(name, AssistantMessage.Limits.idMax)
        guard !id.isEmpty else { throw AssistantMessageError("\(name) is empty") }
        return id
    }

    func name() throws(AssistantMessageError) -> String {
        let name = try text("name", AssistantMessage.Limits.nameMax)
        guard !name.isEmpty else { throw AssistantMessageError("name is empty") }
        return name
    }

    /// A non-negative integer; nil if it is absent.
    func number(_ name: String) throws(AssistantMessageError) -> Int? {
        guard let value = value[name] else { return nil }
        guard case .integer(let number) = value, number >= 0 else { throw AssistantMessageError("\(name) is not a number") }
        return Int(number)
    }

    func boolean(_ name: String) throws(AssistantMessageError) -> Bool {
        guard case .boolean(let boolean) = try required(name) else { throw AssistantMessageError("\(name) is not true or false") }
        return boolean
    }

    func elements(_ name: String, _ countMax: Int) throws(AssistantMessageError) -> [JSONValue] {
        guard case .array(let elements) = try required(name) else { throw AssistantMessageError("\(name) is not an array") }
        guard elements.count <= countMax else { throw AssistantMessageError("\(name) has more than \(countMax) elements") }
        return elements
    }

    /// Nil if the member is missing.
    func texts(_ name: String) throws(AssistantMessageError) -> [String: String]? {
        guard let value = value[name] else { return nil }
        guard case .object(let members) = value else { throw AssistantMessageError("\(name) is not an object") }
        guard members.count <= AssistantMessage.Limits.fieldsCountMax else {
            throw AssistantMessageError("\(name) has more than \(AssistantMessage.Limits.fieldsCountMax) members")
        }
        var texts: [String: String] = [:]
        for member in members {
            guard 1...AssistantMessage.Limits.fieldNameMax ~= member.name.utf8.count else {
                throw AssistantMessageError("a name in \(name) must have 1 to \(AssistantMessage.Limits.fieldNameMax) bytes")
            }
            guard case .string(let text) = member.value, text.utf8.count <= AssistantMessage.Limits.fieldMax else {
                throw AssistantMessageError("a member of \(name) is not a string of at most \(AssistantMessage.Limits.fieldMax) bytes")
            }
            texts[member.name] = text
        }
        return texts
    }

    private func required(_ name: String) throws(AssistantMessageError) -> JSONValue {
        guard let member = value[name] else { throw AssistantMessageError("\(name) is missing") }
        return member
    }
}
