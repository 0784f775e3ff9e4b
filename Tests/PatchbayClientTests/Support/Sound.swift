import Audio
import Foundation

/// Sounds made by arithmetic.
enum Sound {
    /// A tone that swells and fades like syllables, so that it has a shape to be found again.
    static func tone(milliseconds: Int, hertz: Double = 440) -> PCMBuffer {
        let samples = (0..<milliseconds * 48).map { index in
            let time = Double(index) / 48_000
            let swell = 0.55 + 0.45 * sin(2 * .pi * 4 * time)
            return Int16(8_000 * swell * sin(2 * .pi * hertz * time))
        }
        return PCMBuffer(samples: samples)
    }

    /// A man says "go forward ten meters", 2.8 s at 48 kHz.
    static func goForward() throws -> PCMBuffer {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/ps-goforward.wav")
        return try WAVFile.read([UInt8](Data(contentsOf: file)))
    }

    /// How like `sound` the likest stretch of `heard` is: 1 is the same but for its loudness, 0 is nothing alike.
    ///
    /// Looks at every 8th place, which is close enough for speech, and then at all around the best.
    static func correlation(of sound: ArraySlice<Int16>, in heard: [Int16]) -> Double {
        guard heard.count >= sound.count else { return 0 }
        let wanted = stride(from: sound.startIndex, to: sound.endIndex, by: 16).map { Float(sound[$0]) }
        let energy = wanted.reduce(0) { $0 + $1 * $1 }
        func likeness(at offset: Int) -> Float {
            var product: Float = 0
            var other: Float = 0
            for index in wanted.indices {
                let sample = Float(heard[offset + index * 16])
                product += wanted[index] * sample
                other += sample * sample
            }
            return product / max((energy * other).squareRoot(), 1)
        }
        let last = heard.count - sound.count
        let best = stride(from: 0, through: last, by: 8).max { likeness(at: $0) < likeness(at: $1) } ?? 0
        return Double((max(0, best - 8)...min(last, best + 8)).map(likeness).max() ?? 0)
    }
}
