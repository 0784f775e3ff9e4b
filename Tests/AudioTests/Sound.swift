import Audio
import Foundation

/// Sounds that tests play with, and ways to compare them.
enum Sound {
    /// A man says "go forward ten meters", 2.8 s at 48 kHz.
    static func goForward() throws -> PCMBuffer {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/ps-goforward.wav")
        return try WAVFile.read([UInt8](Data(contentsOf: file)))
    }

    /// `peak` is a part of full scale.
    static func sine(hertz: Double, peak: Double, samples: Int, sampleRate: Int = 48_000) -> [Int16] {
        (0..<samples).map { index in
            Int16((sin(2 * .pi * hertz * Double(index) / Double(sampleRate)) * peak * 32_767).rounded())
        }
    }

    /// 1 for equal sounds up to volume, 0 for unrelated ones.
    static func correlation(_ left: ArraySlice<Int16>, _ right: ArraySlice<Int16>) -> Double {
        var (product, leftPower, rightPower) = (0.0, 0.0, 0.0)
        for (a, b) in zip(left, right) {
            product += Double(a) * Double(b)
            leftPower += Double(a) * Double(a)
            rightPower += Double(b) * Double(b)
        }
        return product / max((leftPower * rightPower).squareRoot(), 1)
    }

    /// How far `copy` is from `original`, in dB of signal over difference.
    static func signalToNoise(_ original: ArraySlice<Int16>, _ copy: ArraySlice<Int16>) -> Double {
        var (signal, noise) = (0.0, 0.0)
        for (a, b) in zip(original, copy) {
            signal += Double(a) * Double(a)
            noise += (Double(a) - Double(b)) * (Double(a) - Double(b))
        }
        return 10 * log10(signal / max(noise, 1))
    }

    static func rootMeanSquare(_ samples: some Collection<Int16>) -> Double {
        (samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))).squareRoot()
    }

    /// A tone's frequency by its zero crossings from below, placed between samples by a straight line.
    static func frequency(of samples: ArraySlice<Int16>, sampleRate: Int) -> Double {
        var crossings: [Double] = []
        for index in samples.indices.dropLast() where samples[index] < 0 && samples[index + 1] >= 0 {
            let (before, after) = (Double(samples[index]), Double(samples[index + 1]))
            crossings.append(Double(index) + before / (before - after))
        }
        guard let first = crossings.first, let last = crossings.last, crossings.count > 1 else { return 0 }
        return Double(crossings.count - 1) / (last - first) * Double(sampleRate)
    }
}

extension PCMBuffer {
    /// Whole frames of `milliseconds`, the rest filled up with silence.
    func frames(milliseconds: Int) -> [[Int16]] {
        let length = sampleRate * channels * milliseconds / 1_000
        return stride(from: 0, to: samples.count, by: length).map { start in
            let piece = samples[start..<min(start + length, samples.count)]
            return Array(piece) + [Int16](repeating: 0, count: length - piece.count)
        }
    }
}
