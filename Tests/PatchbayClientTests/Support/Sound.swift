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

    /// How like `sound` the likest stretch of `heard` is: 1 is the same but for its loudness, 0 is nothing alike. Tries every place.
    static func correlation(of sound: ArraySlice<Int16>, in heard: [Int16]) -> Double {
        guard heard.count >= sound.count else { return 0 }
        let wanted = sound.map(Float.init)
        let heard = heard.map(Float.init)
        let energy = wanted.reduce(0) { $0 + $1 * $1 }
        var best: Float = 0
        for offset in 0...heard.count - wanted.count {
            var product: Float = 0
            var other: Float = 0
            for index in stride(from: 0, to: wanted.count, by: 16) {
                product += wanted[index] * heard[offset + index]
                other += heard[offset + index] * heard[offset + index]
            }
            best = max(best, 4 * product / max((energy * other).squareRoot(), 1))
        }
        return Double(best)
    }
}
