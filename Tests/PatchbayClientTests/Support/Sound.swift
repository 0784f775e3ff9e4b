import Audio
import Foundation

/// Synthetic audio.
enum Sound {
    /// A tone with a syllable-like envelope, which correlation can locate.
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

    static func energy(of sound: ArraySlice<Int16>) -> Double {
        sound.reduce(0) { $0 + Double($1) * Double($1) }
    }

    /// The maximum correlation of `sound` with a stretch of `heard`: 1 is identical up to its level, 0 unrelated. Frequencies above 1.5
    /// kHz are ignored.
    static func correlation(of sound: ArraySlice<Int16>, in heard: [Int16]) -> Double {
        let wanted = coarse(sound)
        // The offset may be less than one averaged group of samples.
        return stride(from: 0, to: 16, by: 4).reduce(0) { max($0, correlation(of: wanted, in: coarse(heard.dropFirst($1)))) }
    }

    private static func correlation(of wanted: [Float], in heard: [Float]) -> Double {
        guard heard.count >= wanted.count else { return 0 }
        let energy = wanted.reduce(0) { $0 + $1 * $1 }
        var best: Float = 0
        heard.withUnsafeBufferPointer { heard in
            for offset in 0...heard.count - wanted.count {
                var product: Float = 0
                var other: Float = 0
                for index in 0..<wanted.count {
                    product += wanted[index] * heard[offset + index]
                    other += heard[offset + index] * heard[offset + index]
                }
                best = max(best, product / max((energy * other).squareRoot(), 1))
            }
        }
        return Double(best)
    }

    /// Averages groups of sixteen samples.
    private static func coarse(_ sound: ArraySlice<Int16>) -> [Float] {
        stride(from: sound.startIndex, to: sound.endIndex - 15, by: 16).map { start in
            Float(sound[start..<start + 16].reduce(0) { $0 + Int($1) })
        }
    }
}
