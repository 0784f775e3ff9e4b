import Audio
import Foundation
import PatchbayAgents
import Wire

/// A line of a caller as sound: 48 kHz, mono.
struct CallerSound: Sendable {
    let samples: [Int16]
    /// Where the caller is audible, without the noise, in milliseconds.
    let voiced: [Span]

    /// What is quieter than the loudest 5 ms by this many dB is no voice: breath, and the noise of recordings.
    private static let dynamicRange: UInt8 = 25

    /// Applies the line's speed, pauses and noise.
    ///
    /// - Throws: `UsageError` if nothing is audible, or if a pause lies outside.
    init(_ sound: PCMBuffer, of line: CallerLine, seed: Int) throws {
        var samples = try Tempo.apply(line.speed, to: sound.mixedToMono().resampled(to: PCMBuffer.speechRate).samples)
        for pause in line.pauses.sorted(by: { $0.atMs > $1.atMs }) {
            let index = Int(Double(pause.atMs * 48) / line.speed)
            guard index < samples.count else {
                throw UsageError(
                    "\(line.label): the pause at \(pause.atMs) ms is after its end at \(sound.duration.inMilliseconds) ms; correct `at_ms`")
            }
            samples.insert(contentsOf: repeatElement(0, count: pause.ms * 48), at: index)
        }
        let loudest = stride(from: 0, to: samples.count, by: Span.window).map {
            AudioLevel(of: Array(samples[$0...].prefix(Span.window))).value
        }
        voiced = Span.audible(in: samples, above: min((loudest.min() ?? 127) + Self.dynamicRange, 50), closing: 200)
        guard !voiced.isEmpty else { throw UsageError("\(line.label): the line is silent; choose another recording or text") }
        if let decibels = line.noiseDecibels { Self.addPinkNoise(of: decibels, to: &samples, seed: seed) }
        self.samples = samples
    }

    /// White noise through Paul Kellet's filter, which falls by 3 dB per octave, scaled to its exact level.
    private static func addPinkNoise(of decibels: Int, to samples: inout [Int16], seed: Int) {
        var white = Noise.SeededNoise(seed: seed)
        var (low, middle, high) = (0.0, 0.0, 0.0)
        let pink = samples.indices.map { _ in
            let next = white.next()
            low = 0.997_65 * low + next * 0.099_046
            middle = 0.963 * middle + next * 0.296_516_4
            high = 0.57 * high + next * 1.052_691_3
            return low + middle + high + next * 0.184_8
        }
        let level = (pink.reduce(0) { $0 + $1 * $1 } / Double(max(pink.count, 1))).squareRoot()
        let gain = level > 0 ? 32_767 * pow(10, Double(decibels) / 20) / level : 0
        for index in samples.indices {
            samples[index] = Int16(min(max(Double(samples[index]) + pink[index] * gain, -32_768), 32_767))
        }
    }
}

extension PCMBuffer {
    fileprivate static let speechRate = 48_000
}

/// Changes the tempo of speech without its pitch: removes or repeats pitch periods (`TimeStretch`, a WSOLA).
enum Tempo {
    /// 30 ms, so that the longest period has room for its search.
    private static let block = 1_440

    /// - Parameter speed: 0.5 to 2.
    static func apply(_ speed: Double, to samples: [Int16]) -> [Int16] {
        guard speed != 1 else { return samples }
        var result: [Int16] = []
        for start in stride(from: 0, to: samples.count, by: block) {
            var piece = Array(samples[start..<min(start + block, samples.count)])
            let end = Int(Double(min(start + block, samples.count)) / speed)
            // A period is removed or repeated if that comes closer to the target; what remains is left to the next blocks.
            while result.count + piece.count - end > 240, TimeStretch.shorten(&piece, from: 0, channels: 1) > 0 {}
            var from = 0
            while end - result.count - piece.count > 240, from < piece.count {
                let added = TimeStretch.lengthen(&piece, from: from, channels: 1)
                guard added > 0 else { break }
                from += added
            }
            result += piece
        }
        return result
    }
}

/// Makes the sounds of scenarios.
struct CallerVoices: Sendable {
    /// Nil if all lines are recordings.
    let engines: EmbeddedEngines?

    /// The sounds of a scenario's lines, by the number of their step.
    func sounds(of scenario: Scenario) async throws -> [Int: CallerSound] {
        var sounds: [Int: CallerSound] = [:]
        for (number, line) in scenario.lines {
            let sound =
                switch line.source {
                case .recording(let path): try PCMBuffer(wavFile: path)
                case .synthesized(let voice): try await spoken(line.text ?? "", voice: voice)
                }
            do {
                sounds[number] = try CallerSound(sound, of: line, seed: number)
            } catch let error as UsageError {
                throw UsageError("\(scenario.name), step \(number): \(error)")
            }
        }
        return sounds
    }

    private func spoken(_ text: String, voice: String) async throws -> PCMBuffer {
        guard let engines else { return PCMBuffer(samples: []) }
        var (samples, rate) = ([Int16](), PCMBuffer.speechRate)
        for try await piece in try engines.engines(for: AssistantDefinition(id: "caller")).synthesizer.synthesize(text, voice: voice) {
            samples += piece.samples
            rate = piece.sampleRate
        }
        return PCMBuffer(samples: samples, sampleRate: rate)
    }
}
