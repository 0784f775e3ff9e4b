import Foundation

@testable import PatchbayAgents

/// A conversation with the rules on Friday, November 27, 2026, five past three in the afternoon in Berlin.
struct RulesUser {
    static let now = Date(timeIntervalSince1970: 1_795_788_300)

    var conversation = Conversation()
    var chance: UInt64 = 0
    var now = RulesUser.now

    /// Says something, and remembers the answer.
    @discardableResult
    mutating func says(_ text: String) -> String {
        conversation.messages.append(.user(text))
        let parts = parts()
        let answer = Self.text(of: parts)
        conversation.messages.append(.assistant(answer))
        return answer
    }

    /// The parts of the response to the last message.
    func parts() -> [ResponsePart] {
        let zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
        let situation = Situation(conversation: conversation, name: "Robin", now: now, timeZone: zone, chance: chance)
        return RuleBook(situation: situation).respond()
    }

    static func parts(of text: String, chance: UInt64 = 0, reminders: [PendingReminder] = []) -> [ResponsePart] {
        RulesUser(conversation: Conversation(messages: [.user(text)], reminders: reminders), chance: chance).parts()
    }

    static func answer(to text: String, chance: UInt64 = 0, reminders: [PendingReminder] = []) -> String {
        Self.text(of: parts(of: text, chance: chance, reminders: reminders))
    }

    static func text(of parts: [ResponsePart]) -> String {
        parts.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }
}
