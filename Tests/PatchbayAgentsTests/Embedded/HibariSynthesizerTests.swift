import Foundation
import Testing
import Wire

@testable import PatchbayAgents

struct HibariSynthesizerTests {
    private static let sentences = [
        "The meeting starts at nine, and there are four people waiting in the room.",
        "I can tell you the time, repeat what you said, or end the call.",
        "Your order will arrive on Monday, between ten and two.",
        "Could you please say that again?",
        "The weather tomorrow will be sunny, with a light wind from the north.",
        "I have sent the letter to your new address.",
    ]

    @Test func speechIsUnderstood() async throws {
        var errors = 0
        var count = 0
        for sentence in Self.sentences {
            let speech = try await Embedded.speech(Embedded.hibari().synthesize(sentence, voice: "alloy"))
            let heard = try await Embedded.text(of: speech.forRecognizer())
            errors += wordErrors(words(sentence), words(heard))
            count += words(sentence).count
        }
        #expect(errors * 10 < count)
    }

    @Test func wordTimesCoverTheAudioInOrder() async throws {
        let text = "Hello there! It costs $9.99 at 3:30, don’t you think? — Yes, of course."
        let speech = try await Embedded.speech(Embedded.hibari().synthesize(text, voice: "alloy"))
        let words = try #require(speech.words)
        #expect(
            words.map(\.text) == [
                "Hello", "there!", "It", "costs", "$9.99", "at", "3:30,", "don’t", "you", "think?", "Yes,", "of", "course.",
            ])
        #expect(words.allSatisfy { $0.start < $0.end })
        #expect(zip(words, words.dropFirst()).allSatisfy { $0.end <= $1.start })
        // Silence at the beginning is removed, and the last word ends shortly before the end.
        #expect(try #require(words.first).start < .milliseconds(120))
        let rest = speech.duration - (try #require(words.last).end)
        #expect((.zero...Duration.milliseconds(400)).contains(rest))
        // "$9.99" is "nine dollars and ninety nine cents".
        #expect(words[4].end - words[4].start > .seconds(1))
    }

    @Test func aWordIsWhereItsTimesSay() async throws {
        let text = "Please open the window before you turn on the computer."
        let speech = try await Embedded.speech(Embedded.hibari().synthesize(text, voice: "alloy"))
        let window = try #require(speech.words).first { $0.text == "window" }
        let word = try #require(window)
        let samples = try speech.forRecognizer()
        let cut = samples[Int(word.start / .milliseconds(1)) * 16..<min(Int(word.end / .milliseconds(1)) * 16, samples.count)]
        #expect(words(try await Embedded.text(of: Signal.silence(0.3) + cut + Signal.silence(0.3))).contains("window"))
    }

    @Test func sentencesArriveOneByOneAtAGoodLevel() async throws {
        var pieces: [SynthesizedSpeech] = []
        for try await piece in try await Embedded.hibari().synthesize(Self.sentences.joined(separator: " "), voice: "alloy") {
            pieces.append(piece)
        }
        #expect(pieces.count == Self.sentences.count)
        for piece in pieces {
            let peak = piece.samples.map { abs(Int($0)) }.max() ?? 0
            #expect((10_000...29_500).contains(peak))
            #expect(piece.sampleRate == 24_000)
        }
    }

    @Test func textsInProgressTakeTurns() async throws {
        let hibari = try await Embedded.hibari()
        let long = Array(repeating: Self.sentences[0], count: 20).joined(separator: " ")
        async let last = Embedded.speech(hibari.synthesize(long, voice: "alloy"))
        let short = try await Embedded.speech(hibari.synthesize("Yes.", voice: "alloy"))
        #expect(short.duration < .seconds(2))
        #expect(try await last.duration > .seconds(60))
    }

    @Test(arguments: ["", "   \n ", "...", "🙂", "—"])
    func textWithoutWordsIsSilent(_ text: String) async throws {
        var samples = 0
        for try await piece in try await Embedded.hibari().synthesize(text, voice: "alloy") { samples += piece.samples.count }
        #expect(samples < 24_000)
    }

    @Test(arguments: [
        String(repeating: "a", count: 3_000), "\u{0}\u{1}\u{7f}", "日本語のテキスト", "<speak>&amp;</speak> [x](/y/) {\"a\": 1}",
        String(repeating: "very ", count: 200) + "long sentence",
    ])
    func unusualTextIsSpokenOrSkipped(_ text: String) async throws {
        for try await piece in try await Embedded.hibari().synthesize(text, voice: "alloy") {
            #expect(piece.words?.allSatisfy { $0.start <= $0.end } == true)
        }
    }

    @Test func aTextThatIsTooLongIsRejected() async throws {
        await #expect(throws: ProviderError.self) {
            _ = try await Embedded.speech(Embedded.hibari().synthesize(String(repeating: "word ", count: 8_001), voice: "alloy"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func aKilledHelperFailsItsRequestsAndIsReplaced() async throws {
        let hibari = try Embedded.makeHibari()
        let long = Array(repeating: Self.sentences[0], count: 60).joined(separator: " ")
        for round in 1...2 {
            var pieces = hibari.synthesize(long, voice: "alloy").makeAsyncIterator()
            #expect(try await pieces.next() != nil)
            let processID = try #require(hibari.helper.processID)
            #expect(kill(processID, SIGKILL) == 0)
            do {
                while try await pieces.next() != nil {}
                Issue.record("the request ended as if it were complete")
            } catch let error as ProviderError {
                #expect(error.code == .disconnected)
                #expect(error.isRetryable)
            }
            #expect(try await Embedded.speech(hibari.synthesize("Hello again.", voice: "alloy")).duration > .milliseconds(500))
            #expect(hibari.helper.starts == round + 1)
        }
    }

    @Test(.timeLimit(.minutes(5))) func theHelperEndsWithItsSynthesizer() async throws {
        var hibari: HibariSynthesizer? = try Embedded.makeHibari()
        _ = try await Embedded.speech(try #require(hibari).synthesize("Hello.", voice: "alloy"))
        let processID = try #require(hibari?.helper.processID)
        hibari = nil
        while kill(processID, 0) == 0 { try await Task.sleep(for: .milliseconds(20)) }
    }

    @Test func missingModelsSayHowToInstallThem() async throws {
        let nowhere = ModelsFolder(path: "/nowhere")
        #expect(throws: ProviderError.self) { try HibariSynthesizer(models: nowhere) }
        #expect(throws: ProviderError.self) { try SileroDetectorFactory(models: nowhere) }
        await #expect(throws: ProviderError.self) { try await MoonshineRecognizer(models: nowhere) }
        let problem = try #require(nowhere.problem)
        #expect(problem.contains("make models") && problem.contains("scripts/setup-models") && problem.contains("/nowhere"))
    }
}
