import Audio
import Foundation
import Logging
import Testing

@testable import PatchbayAgents

struct EmbeddedVoicesTests {
    private static let text = "The weather tomorrow will be sunny, with a light wind from the north."

    @Test func theSixVoicesDiffer() async throws {
        var sounds: [(voice: EmbeddedVoice, pitch: Double, brightness: Double)] = []
        for voice in EmbeddedVoice.allCases {
            let speech = try await Embedded.speech(Embedded.hibari().synthesize(Self.text, voice: voice.rawValue))
            let sound = Voice(try speech.forRecognizer())
            sounds.append((voice, sound.pitch, sound.brightness))
        }
        for (index, one) in sounds.enumerated() {
            for other in sounds[(index + 1)...] {
                let pitch = abs(log2(one.pitch / other.pitch)) * 12
                let brightness = abs(log2(one.brightness / other.brightness)) * 12
                // In semitones; a listener notices one.
                #expect(pitch > 1.5 && pitch + brightness > 2.5, "\(one) and \(other)")
            }
        }
        let pitches = Dictionary(uniqueKeysWithValues: sounds.map { ($0.voice, $0.pitch) })
        #expect(try #require(pitches[.onyx]) < 120)
        #expect(try #require(pitches[.echo]) < 150)
        #expect((175.0...220.0).contains(try #require(pitches[.alloy])))
    }

    @Test(arguments: EmbeddedVoice.allCases) func everyVoiceIsUnderstoodAndHasWordTimes(_ voice: EmbeddedVoice) async throws {
        let sentences = [
            Self.text, "I can repeat what you said, or end the call.", "Please open the window before you turn on the computer.",
        ]
        var errors = 0
        var count = 0
        for sentence in sentences {
            let speech = try await Embedded.speech(Embedded.hibari().synthesize(sentence, voice: voice.rawValue))
            errors += wordErrors(words(sentence), words(try await Embedded.text(of: speech.forRecognizer())))
            count += words(sentence).count
            let timed = try #require(speech.words)
            #expect(timed.map(\.text) == sentence.split(separator: " ").map(String.init))
            #expect(zip(timed, timed.dropFirst()).allSatisfy { $0.end <= $1.start })
            let rest = speech.duration - (try #require(timed.last).end)
            #expect((.zero...Duration.milliseconds(450)).contains(rest))
        }
        #expect(errors * 10 < count)
    }

    @Test func theSynthesizerSpeaksWithHibari() async throws {
        let synthesizer = EmbeddedSynthesizer(try await Embedded.hibari(), firstAudioMax: .seconds(60), logger: Logger(label: "test"))
        let speech = try await Embedded.speech(synthesizer.synthesize("Good morning.", voice: "nova"))
        #expect(speech.sampleRate == 24_000)
        #expect(synthesizer.fallbackCount == 0)
    }

    @Test func withoutModelsASimpleVoiceSpeaks() async throws {
        let synthesizer = EmbeddedSynthesizer(models: ModelsFolder(path: "/nowhere"))
        for (index, voice) in EmbeddedVoice.allCases.enumerated() {
            let speech = try await Embedded.speech(synthesizer.synthesize("Please open the window.", voice: voice.rawValue))
            #expect(speech.sampleRate == 16_000)
            #expect(speech.duration > .seconds(1))
            #expect(synthesizer.fallbackCount == index + 1)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aSilentHelperIsReplacedByASimpleVoice() async throws {
        let hibari = try Embedded.makeHibari()
        _ = try await Embedded.speech(hibari.synthesize("Hello.", voice: "alloy"))
        let processID = try #require(hibari.helper.processID)
        #expect(kill(processID, SIGSTOP) == 0)
        let synthesizer = EmbeddedSynthesizer(hibari, firstAudioMax: .milliseconds(300), logger: Logger(label: "test"))
        let speech = try await Embedded.speech(synthesizer.synthesize("Hello again.", voice: "alloy"))
        #expect(speech.sampleRate == 16_000)
        #expect(synthesizer.fallbackCount == 1)
        #expect(kill(processID, SIGCONT) == 0)
        #expect(try await Embedded.speech(hibari.synthesize("Hello again.", voice: "alloy")).sampleRate == 24_000)
    }

    @Test func anUnknownVoiceIsSpokenByTheDefaultVoice() async throws {
        let synthesizer = EmbeddedSynthesizer(try await Embedded.hibari(), firstAudioMax: .seconds(60), logger: Logger(label: "test"))
        #expect(try await Embedded.speech(synthesizer.synthesize("Hello.", voice: "somebody")).sampleRate == 24_000)
    }

    @Test(arguments: FliteLibrary.Voice.allCases) func flitesOwnVoicesHaveWordTimes(_ voice: FliteLibrary.Voice) async throws {
        let text = "Hello there. It's about 20 meters, isn’t it?"
        let speech = try await Embedded.speech(FliteSynthesizer().synthesize(text, voice: voice.rawValue))
        let timed = try #require(speech.words)
        #expect(timed.count == 8)
        #expect(timed.first?.text == "Hello")
        #expect(timed.allSatisfy { $0.start < $0.end })
        #expect(zip(timed, timed.dropFirst()).allSatisfy { $0.end <= $1.start })
        #expect(speech.samples.contains { abs(Int($0)) > 8_000 })
    }

    @Test(arguments: ["", " ", "...", "日本語", String(repeating: "x", count: 3_000), "\u{0}%s%n\u{7f}", "<a>&b;\"'`\\"])
    func fliteSurvivesUnusualText(_ text: String) async throws {
        for try await piece in FliteSynthesizer().synthesize(text, voice: "rms") { #expect(piece.sampleRate == 16_000) }
    }
}
