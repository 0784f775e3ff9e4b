internal import Foundation

/// A responder without a language model: answers by rules, in English (`RuleBook`).
///
/// It makes an assistant usable without network, and tests deterministic. It tells time and date, here and elsewhere, counts, calculates,
/// converts units, sets timers and reminders, repeats, remembers names and what was said, uses the session's context, calls tools that are
/// named, says honestly what it cannot do, and ends the call on request.
public struct RulesResponder: Responder {
    private let name: String
    private let timeZone: TimeZone
    private let now: @Sendable () -> Date
    private let chance: @Sendable () -> UInt64

    /// - Parameters:
    ///   - name: what the assistant calls itself.
    public init(name: String = "the Patchbay assistant") {
        self.init(name: name, timeZone: .current, now: { Date() }, chance: { UInt64.random(in: 0 ... .max) })
    }

    /// - Parameter chance: draws a number for each response.
    init(name: String, timeZone: TimeZone, now: @escaping @Sendable () -> Date, chance: @escaping @Sendable () -> UInt64) {
        (self.name, self.timeZone, self.now, self.chance) = (name, timeZone, now, chance)
    }

    public var isWorthPreparing: Bool { false }

    public func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
        let situation = Situation(conversation: conversation, name: name, now: now(), timeZone: timeZone, chance: chance())
        let parts = RuleBook(situation: situation).respond()
        return AsyncThrowingStream { stream in
            for part in parts { stream.yield(part) }
            stream.finish()
        }
    }
}
