import Testing
import Wire

@testable import PatchbayAgents

/// Sentences with digits, spoken by the embedded synthesizer and recognized by the embedded recognizer.
@Suite(.timeLimit(.minutes(5)))
struct SpokenReadBackTests {
    private static let sentences = [
        "The train leaves at 5:38 in the morning.", "Your room is number 4711 on the second floor.", "The ticket costs $3.50 for children.",
        "It takes 45 minutes to get there by bus.", "The temperature is 20 °C in the city today.",
        "About 1,200 people came to see the game.",
        "We are open on the 21st of December.", "You save 50% if you order today.", "The house was built in 1984 by my father.",
        "Please call 555-1234 for more information.", "The next stop is 3 km from here.", "Dr. Smith will see you at 5 pm.",
        "The meeting is on Nov 27 in the big room.", "Add 3/4 of the milk and wait.", "Fruit, e.g. apples, costs 12 € here.",
    ]

    /// At least this many are recognized word for word, apart from what the recognizer adds in the silence at the end.
    private static let understoodMin = 12

    @Test func digitsAreUnderstood() async throws {
        var exact = 0
        var understood = 0
        var others: [String] = []
        for sentence in Self.sentences {
            let spoken = SpokenText(sentence).text
            let speech = try await Embedded.speech(Embedded.hibari().synthesize(spoken, voice: "alloy"))
            // The recognizer writes digits and abbreviations of its own.
            let heard = SpokenText(try await Embedded.text(of: speech.forRecognizer())).text
            if Self.sounds(heard) == Self.sounds(spoken) { exact += 1 } else { others.append("\(spoken) | \(heard)") }
            if Self.sounds(heard).hasPrefix(Self.sounds(spoken)) { understood += 1 }
        }
        print("word for word: \(exact) of \(Self.sentences.count), with additions at the end: \(understood)")
        for line in others { print("  \(line)") }
        #expect(understood >= Self.understoodMin, "\(others)")
    }

    /// Without punctuation and spaces, which say nothing about the sound.
    private static func sounds(_ text: String) -> String { words(text).joined() }
}
