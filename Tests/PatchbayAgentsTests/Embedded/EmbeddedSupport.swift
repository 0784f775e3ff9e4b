import Audio
import Foundation
import Logging
import Testing
import Wire

@testable import PatchbayAgents

/// The engines that the tests share, because loading them takes a second.
enum Embedded {
    /// Fails with the sentence that says how to install the models.
    static func models() throws -> ModelsFolder {
        let models = ModelsFolder.standard
        if let problem = models.problem { throw ProviderError(.unavailable, problem) }
        return models
    }

    private static let loadedRecognizer = Task { try await MoonshineRecognizer(models: models()) }
    private static let loadedSynthesizer = Task { try makeHibari() }

    /// With patience, for loaded machines.
    static func makeHibari() throws -> HibariSynthesizer {
        var settings = HelperRequests.Settings()
        settings.startTimeout = .seconds(120)
        settings.silenceMax = .seconds(60)
        return try HibariSynthesizer(models: models(), settings: settings, logger: Logger(label: "test"))
    }

    static func recognizer() async throws -> MoonshineRecognizer { try await loadedRecognizer.value }
    static func hibari() async throws -> HibariSynthesizer { try await loadedSynthesizer.value }

    /// "Go forward ten meters", 16 kHz.
    static func demoClip() throws -> [Float] { try recording("ps-goforward") }

    /// A recording of the demonstration, 16 kHz.
    static func recording(_ name: String) throws -> [Float] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../demo/\(name).wav")
        let clip = try WAVFile.read([UInt8](Data(contentsOf: file)), mono: true)
        return try samples(clip.samples, rate: clip.sampleRate)
    }

    static let demoText = "go forward ten meters"

    /// At the recognizer's rate.
    static func samples(_ samples: [Int16], rate: Int) throws -> [Float] {
        try PCMBuffer(samples: samples, sampleRate: rate).resampled(to: SpeechSegment.sampleRate).samples.map { Float($0) / 32_768 }
    }

    /// The final text.
    static func text(of samples: [Float]) async throws -> String {
        try await text(of: SpeechSegment(samples: samples, start: Instant(nanoseconds: 0)), with: recognizer())
    }

    static func text(of segment: SpeechSegment, with recognizer: MoonshineRecognizer) async throws -> String {
        var last: Recognition?
        for try await result in recognizer.recognize(segment) { last = result }
        let result = try #require(last)
        #expect(result.isFinal)
        return result.text
    }

    /// All pieces of a text as one.
    static func speech(_ pieces: AsyncThrowingStream<SynthesizedSpeech, any Error>) async throws -> SynthesizedSpeech {
        var speech: SynthesizedSpeech?
        for try await piece in pieces {
            if speech == nil { speech = SynthesizedSpeech(samples: [], sampleRate: piece.sampleRate, words: []) }
            #expect(piece.sampleRate == speech?.sampleRate)
            speech?.samples += piece.samples
            speech?.words?.append(contentsOf: try #require(piece.words))
        }
        return try #require(speech)
    }
}

extension SynthesizedSpeech {
    var duration: Duration { .seconds(Double(samples.count) / Double(sampleRate)) }

    /// At the recognizer's rate.
    func forRecognizer() throws -> [Float] { try Embedded.samples(samples, rate: sampleRate) }
}

/// Generated signals of 16 kHz.
enum Signal {
    static func silence(_ seconds: Double) -> [Float] { [Float](repeating: 0, count: Int(seconds * 16_000)) }

    static func noise(_ seconds: Double, level: Float = 0.1, seed: UInt64 = 1) -> [Float] {
        var random = SplitMix64(seed: seed)
        return silence(seconds).map { _ in (Float(random.below(20_001)) / 10_000 - 1) * level }
    }

    static func tone(_ seconds: Double, frequency: Double = 440, level: Float = 0.3) -> [Float] {
        silence(seconds).indices.map { Float(sin(2 * .pi * frequency * Double($0) / 16_000)) * level }
    }
}

/// Characteristics by which voices can be told apart in 16 kHz audio.
struct Voice {
    /// Median fundamental frequency in Hz, by autocorrelation.
    let pitch: Double
    /// Median of the spectral centroid of voiced windows in Hz, from the zero-crossing rate.
    let brightness: Double

    init(_ samples: [Float]) {
        var pitches: [Double] = []
        var crossings: [Double] = []
        for start in stride(from: 0, to: samples.count - 1_200, by: 1_200) {
            let window = samples[start..<start + 1_200].map(Double.init)
            let energy = window.reduce(0) { $0 + $1 * $1 }
            guard energy > 3 else { continue }
            var best = (lag: 0, likeness: 0.0)
            for lag in 40...260 {
                var product = 0.0
                var one = 1e-9
                var other = 1e-9
                for index in stride(from: 0, to: 1_200 - 260, by: 2) {
                    product += window[index] * window[index + lag]
                    one += window[index] * window[index]
                    other += window[index + lag] * window[index + lag]
                }
                // A slight preference for short lags avoids octave errors.
                let likeness = product / (one * other).squareRoot() - Double(lag) * 0.0005
                if likeness > best.likeness { best = (lag, likeness) }
            }
            guard best.likeness > 0.5 else { continue }
            pitches.append(16_000 / Double(best.lag))
            crossings.append(Double(zip(window, window.dropFirst()).count { ($0 < 0) != ($1 < 0) }) * 16_000 / 2_400)
        }
        pitch = pitches.sorted()[pitches.count / 2]
        brightness = crossings.sorted()[crossings.count / 2]
    }
}

/// Words in lower case without punctuation, with numbers as words.
func words(_ text: String) -> [String] {
    let numbers = [
        "0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight", "9": "nine",
        "10": "ten",
    ]
    return text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }.map { numbers[String($0)] ?? String($0) }
}

/// Insertions, deletions and substitutions (Levenshtein).
func wordErrors(_ spoken: [String], _ heard: [String]) -> Int {
    var row = Array(0...heard.count)
    for (index, word) in spoken.enumerated() {
        var previous = row[0]
        row[0] = index + 1
        for other in heard.indices {
            let substitution = previous + (heard[other] == word ? 0 : 1)
            previous = row[other + 1]
            row[other + 1] = min(substitution, row[other] + 1, row[other + 1] + 1)
        }
    }
    return row[heard.count]
}
