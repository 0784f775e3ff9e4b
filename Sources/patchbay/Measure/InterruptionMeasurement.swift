import Audio
import Foundation
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire

/// How an assistant yields, and how little it takes noises for interruptions.
extension AgentMeasurement {
    private static let story = """
        Once there was a lighthouse on a small island far from the coast. The keeper had a dog, two goats and a garden with beans. Every morning \
        he climbed the stairs and cleaned the lamp with a soft cloth. In spring the birds came back and built their nests under the roof. One day \
        a letter arrived in a bottle that smelled of oranges. It was written in green ink and asked for the way home. The keeper read it three \
        times and then went to find his boat. The sea was quiet, and the sails were old but strong. After two days he reached a harbour that was \
        on none of his maps. A woman with a red umbrella waved to him from the pier. She had written many letters, but nobody had answered before.
        """

    /// Interrupts a long answer again and again, and compares what was heard of it with its transcript.
    func bargeIn(with recordings: [SpokenRecording], tries: Int) async throws -> AgentReport {
        let recognizer = try engines.engines(for: AssistantDefinition(id: "measured")).recognizer
        return try await call(answering: Self.story) { user, notes in
            var report = AgentReport()
            let shortest = Array(recordings.sorted { $0.sound.duration < $1.sound.duration }.prefix(6))
            user.say(shortest[0].sound)
            for index in 0..<tries {
                try await user.waitForSpeech(of: .milliseconds(1_500 + index % 5 * 370), within: .seconds(12))
                notes.state.withLock { $0.interrupted = "" }
                user.say(shortest[index % shortest.count].sound)
                try await Task.sleep(for: .milliseconds(900))
                guard let began = user.speechBegan, let last = user.lastHeard else { continue }
                let heard = user.answer
                try? await user.waitForAnswerToBegin(within: .seconds(12))
                let delay = Int((last - began).inMilliseconds)
                report.bargeInMs.append(delay)
                let said = notes.state.withLock { $0.interrupted }
                let recognized = try await Self.recognize(heard, with: recognizer)
                let difference = abs(WordErrors.words(said).count - WordErrors.words(recognized).count)
                report.heardWordsOff.append(difference)
                progress("interruption \(index + 1): silent after \(delay) ms; transcript \"\(said)\", heard \"\(recognized)\"")
            }
            return report
        }
    }

    private static func recognize(_ samples: [Int16], with recognizer: any SpeechRecognizer) async throws -> String {
        let sound = try PCMBuffer(samples: samples).resampled(to: SpeechSegment.sampleRate)
        let silence = [Float](repeating: 0, count: SpeechSegment.sampleRate / 5)
        let segment = SpeechSegment(samples: sound.samples.map { Float($0) / 32_768 } + silence, start: MediaClock.now)
        var text = ""
        for try await result in recognizer.recognize(segment) { text = result.text }
        return text
    }

    /// Makes noises while the assistant speaks: coughs, clicks, short syllables.
    func falseStarts(tries: Int) async throws -> AgentReport {
        let syllables = try await Self.syllables(with: engines)
        return try await call(answering: Array(repeating: Self.story, count: 4).joined(separator: " ")) { user, notes in
            var report = AgentReport()
            user.say(try await Self.spoken("Please tell me a long story.", with: engines))
            try await user.waitForSpeech(of: .seconds(2), within: .seconds(12))
            for index in 0..<tries {
                let (name, sound) =
                    switch index % 3 {
                    case 0: ("cough", Noise.cough(seed: index))
                    case 1: ("click", Noise.click(seed: index))
                    default: syllables[index / 3 % syllables.count]
                    }
                let before = notes.state.withLock { state in
                    state.finals = []
                    return state.metrics.count
                }
                user.say(sound)
                try await Task.sleep(for: .milliseconds(2_500))
                let interrupted = notes.state.withLock { $0.metrics.dropFirst(before).contains(where: \.interrupted) }
                report.falseStarts.append(interrupted)
                let understood = notes.state.withLock { $0.finals }.joined(separator: " ")
                progress("\(name): the assistant \(interrupted ? "was interrupted" : "spoke on"); understood \"\(understood)\"")
                try await user.waitForSpeech(of: .milliseconds(300), within: .seconds(12))
            }
            return report
        }
    }

    private static func syllables(with engines: EmbeddedEngines) async throws -> [(String, PCMBuffer)] {
        var sounds: [(String, PCMBuffer)] = []
        for text in ["Hm.", "Oh.", "Ah.", "Yeah."] { sounds.append((text, try await spoken(text, with: engines))) }
        return sounds
    }

    private static func spoken(_ text: String, with engines: EmbeddedEngines) async throws -> PCMBuffer {
        var samples: [Int16] = []
        var rate = 0
        for try await piece in try engines.engines(for: AssistantDefinition(id: "measured")).synthesizer.synthesize(text, voice: "onyx") {
            samples += piece.samples
            rate = piece.sampleRate
        }
        return PCMBuffer(samples: samples, sampleRate: rate)
    }
}

/// Sounds that are no speech, 48 kHz.
enum Noise {
    /// Two bursts of low-pass noise that die away, 300 ms.
    static func cough(seed: Int) -> PCMBuffer {
        var random = SeededNoise(seed: seed)
        var low = 0.0
        return PCMBuffer(
            samples: (0..<14_400).map { index in
                let burst = index < 7_200 ? index : index - 7_200
                low += (random.next() - low) * 0.18
                return Int16(max(min(low * 40_000 * exp(-Double(burst) / 1_800), 32_000), -32_000))
            })
    }

    /// A few milliseconds of white noise.
    static func click(seed: Int) -> PCMBuffer {
        var random = SeededNoise(seed: seed)
        return PCMBuffer(samples: (0..<480).map { Int16(random.next() * 20_000 * exp(-Double($0) / 120)) })
    }

    /// White noise from −1 to 1, the same for the same seed.
    struct SeededNoise {
        private var state: UInt64

        init(seed: Int) {
            state = UInt64(seed + 1) &* 0x9E37_79B9_7F4A_7C15
        }

        mutating func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(Int64(bitPattern: state) >> 11) / Double(1 << 52)
        }
    }
}
