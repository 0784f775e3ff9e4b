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
}
