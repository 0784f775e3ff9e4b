import Testing
import Wire

@testable import PatchbayAgents

/// Whatever is said, there is an answer.
struct RandomTextTests {
    private static let words = [
        "count", "from", "to", "for", "two", "twenty-five", "hundred", "million", "and", "a", "half", "quarter", "past", "point", "minus",
        "7x8",
        "7:30", "3.5", "1,000", "99999999999999999999", "1e400", "%", "/", "-", "timer", "remind", "me", "at", "in", "minutes", "hours",
        "an",
        "cancel", "say", "repeat", "that", "again", "what", "day", "is", "december", "february", "29th", "the", "until", "tomorrow", "ago",
        "weeks",
        "degrees", "celsius", "in", "fahrenheit", "miles", "spell", "my", "name", "first", "square root of", "divided by", "dice", "roll",
        "random number",
        "between", "left", "all", "please", "um", "can you", "…", "🎲", "½", "é", "\n", "Alice:", "of", "squared", "to the power of",
        "percent", "couple",
    ]

    @Test(arguments: 0..<20 as Range<UInt64>) func randomTextHasAnAnswer(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pending = [PendingReminder(id: "reminder-1", title: "Timer for 10 minutes", remaining: .seconds(5))]
        let before = ["For how long?", "When shall I remind you?", "Which one shall I cancel?", "Hello."]
        for _ in 0..<150 {
            let text = (0..<random.below(14)).map { _ in Self.words[random.below(Self.words.count)] }.joined(separator: " ")
            var user = RulesUser(chance: random.next())
            user.conversation = Conversation(
                messages: [.user("Set a timer."), .assistant(before[random.below(before.count)]), .user(text)], userName: "Alice",
                reminders: random.below(2) == 0 ? pending : [])
            #expect(RulesUser.text(of: user.parts()).contains { $0.isLetter || $0.isNumber }, "\(text)")
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>) func randomCharactersHaveAnAnswer(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let scalars = (0..<random.below(60)).compactMap { _ in UnicodeScalar(UInt32(random.below(random.below(2) == 0 ? 0x80 : 0x3000)))
            }
            let text = String(String.UnicodeScalarView(scalars))
            #expect(!RulesUser.answer(to: text, chance: random.next()).isEmpty, "\(text.debugDescription)")
        }
    }

    @Test func aVeryLongTextIsAnsweredQuickly() {
        let clock = ContinuousClock()
        let text = String(repeating: "one hundred and ", count: 4_000)
        let span = clock.measure { #expect(!RulesUser.answer(to: text).isEmpty) }
        #expect(span < .seconds(5))
    }
}
