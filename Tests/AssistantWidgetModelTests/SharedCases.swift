import Foundation
import Testing

@testable import AssistantWidgetModel

/// The table of cases that this machine and the web widget's share. `Tests/Web/widget/machine-cases.test.js` writes it.
struct SharedCases: Decodable {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var steps: [Step]

        var testDescription: String { name }
    }

    struct Step: Decodable, Sendable {
        /// The time in milliseconds; nil if it has not changed.
        var at: Int?
        var event: JSONFields
        var effects: [String]
        /// The changes of the summary.
        var changes: [String: JSONValue]
    }

    struct Definition: Decodable, Sendable {
        /// Decoded twice: as plain JSON, and as the module decodes it.
        var settings: [String: JSONValue]
        var read: WidgetSettings

        private enum CodingKeys: String, CodingKey {
            case settings
            case read = "content"
        }
    }

    var definitions: [Definition]
    var cases: [Case]

    static let shared = Result {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/widget-machine.json")
        return try JSONDecoder().decode(SharedCases.self, from: Data(contentsOf: file))
    }
}

/// A value of JSON.
enum JSONValue: Decodable, Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Int)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    init(_ text: String?) { self = text.map(JSONValue.text) ?? .null }
    init(_ number: Int?) { self = number.map(JSONValue.number) ?? .null }
    init(_ texts: [String]) { self = .list(texts.map(JSONValue.text)) }
}

/// The members of an event.
struct JSONFields: Decodable, Sendable {
    private var fields: [String: JSONValue]
    /// The settings of `loaded`, as the module decodes them.
    private var definition: WidgetSettings?

    private enum CodingKeys: String, CodingKey { case definition }

    init(from decoder: any Decoder) throws {
        fields = try [String: JSONValue](from: decoder)
        definition = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(WidgetSettings.self, forKey: .definition)
    }

    private init(_ fields: [String: JSONValue]) {
        self.fields = fields
    }

    func text(_ name: String) -> String {
        optionalText(name) ?? ""
    }

    func optionalText(_ name: String) -> String? {
        if case .text(let text) = fields[name] { text } else { nil }
    }

    func number(_ name: String) -> Int? {
        if case .number(let number) = fields[name] { number } else { nil }
    }

    func bool(_ name: String) -> Bool {
        fields[name] == .bool(true)
    }

    func has(_ name: String) -> Bool { fields[name] != nil }

    func object(_ name: String) -> JSONFields {
        if case .object(let object) = fields[name] { JSONFields(object) } else { JSONFields([:]) }
    }

    func objects(_ name: String) -> [JSONFields] {
        guard case .list(let list) = fields[name] else { return [] }
        return list.compactMap { if case .object(let object) = $0 { JSONFields(object) } else { nil } }
    }

    func choice<Choice: RawRepresentable<String>>(_ name: String, _: Choice.Type = Choice.self) -> Choice? {
        optionalText(name).flatMap(Choice.init)
    }

    /// Returns the event that these members describe.
    ///
    /// - Parameter current: the machine's current attempt.
    func event(attempt current: Int) -> WidgetEvent? {
        let attempt = number("attempt") ?? current
        switch text("type") {
        case "configured":
            return .configured(
                assistant: text("assistant"), isWanted: bool("isWanted"), isTalk: bool("isTalk"), isIconOnly: bool("isIconOnly"))
        case "loaded": return definition.map { .loaded($0, attempt: attempt) }
        case "loadFailed": return .loadFailed(code: text("code"), message: text("message"), attempt: attempt)
        case "start": return .start(text: optionalText("text"))
        case "consentNeeded": return .consentNeeded(attempt: attempt)
        case "consentAnswered": return .consentAnswered(isAllowed: bool("isAllowed"))
        case "connected":
            return .connected(identity: text("identity"), hasSeenOnboarding: bool("hasSeenOnboarding"), attempt: attempt)
        case "connectFailed":
            return .connectFailed(
                choice("kind") ?? .connection, code: text("code"), message: text("message"), closeCode: number("closeCode"),
                attempt: attempt)
        case "disconnected":
            return .disconnected(
                reason: text("reason"), message: text("message"), closeCode: number("closeCode"), attempt: attempt)
        case "stop": return .stop
        case "close": return .close
        case "retry": return .retry
        case "showTranscript": return .showTranscript
        case "showVoice": return .showVoice
        case "typeInstead": return .typeInstead
        case "tick": return .tick
        default: return conversationEvent.map { WidgetEvent.conversation($0, attempt: attempt) }
        }
    }

    private var conversationEvent: ConversationEvent? {
        switch text("type") {
        case "room": return choice("value").map(ConversationEvent.room)
        case "agentPresent": return .agentPresent(identity: text("identity"), name: text("name"), state: choice("value"))
        case "agentAway": return .agentAway(identity: text("identity"), name: text("name"), state: choice("value"))
        case "agentState": return choice("value").map { .agentState(identity: text("identity"), $0) }
        case "agentGone": return .agentGone(identity: text("identity"), isIntended: bool("isIntended"))
        case "agentAwaited": return .agentAwaited
        case "agentWaiting": return .agentWaiting(reason: optionalText("reason"))
        case "microphone": return choice("value").map { .microphone($0, code: optionalText("code"), message: text("message")) }
        case "muted": return .muted(bool("isMuted"))
        case "sound": return .sound(blockage: optionalText("blockage"))
        case "recorded": return .recorded(bool("isActive"))
        case "logged": return .logged(bool("isLogged"))
        case "draining": return .draining(closesAt: number("closesAt"))
        case "refused": return .refused(message: optionalText("message"))
        case "segment":
            let segment = object("segment")
            return .segment(
                WidgetSegment(
                    id: segment.text("id"), kind: segment.choice("role") ?? .user, text: segment.text("text"),
                    isFinal: segment.bool("final"), spoken: segment.choice("spoken"), spokenChars: segment.number("spokenChars"),
                    hasTimes: segment.has("startTs")), name: text("name"))
        case "playout":
            let position = object("position")
            let segment = position.object("segment")
            let word = position.number("word").flatMap { $0 >= 0 ? segment.objects("words")[$0].text("text") : nil }
            return .playout(segment: segment.text("id"), spokenChars: position.number("spokenChars") ?? 0, word: word)
        case "message": return .message(name: text("name"), text: text("text"))
        case "typed": return .typed(text: text("text"))
        case "queued": return .queued(text: text("text"))
        case "toolStarted": return .toolStarted(id: text("id"), name: text("name"))
        case "toolFinished": return .toolFinished(id: text("id"))
        case "toolFailed":
            return .toolFailed(id: text("id"), name: text("name"), message: text("message"), canRetry: bool("retry"))
        case "card":
            let card = object("card")
            return .card(
                WidgetCall.Card(
                    id: card.text("id"), kind: card.text("kind"), title: card.text("title"), body: card.text("body"),
                    actions: card.objects("actions").map { $0.text("id") }))
        case "cardSending": return .cardSending(id: text("id"))
        case "cardRefused": return .cardRefused(id: text("id"))
        case "cardAnswered": return .cardAnswered(id: text("id"), note: text("note"))
        case "cardDismissed": return .cardDismissed(id: text("id"))
        case "onboardingFinished": return .onboardingFinished(isComplete: bool("completed"))
        case "onboardingSkipped": return .onboardingSkipped
        default: return nil
        }
    }
}
