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

    /// How like `sound` the likest stretch of `heard` is: 1 is the same but for its loudness, 0 is nothing alike.
    ///
    /// Looks at every 8th place with every 37th sample, and then closely around the best.
    static func correlation(of sound: [Int16], in heard: [Int16]) -> Double {
        guard heard.count >= sound.count else { return 0 }
        let wanted = sound.map(Double.init)
        let energy = wanted.reduce(0) { $0 + $1 * $1 }
        func likeness(at offset: Int, step: Int) -> Double {
            var product = 0.0
            var other = 0.0
            for index in stride(from: 0, to: wanted.count, by: step) {
                let sample = Double(heard[offset + index])
                product += wanted[index] * sample
                other += sample * sample
            }
            return other > 0 ? product * Double(step) / (energy * other * Double(step)).squareRoot() : 0
        }
        let places = stride(from: 0, through: heard.count - sound.count, by: 8)
        let best = places.max { likeness(at: $0, step: 37) < likeness(at: $1, step: 37) } ?? 0
        let around = max(0, best - 8)...min(heard.count - sound.count, best + 8)
        return around.map { likeness(at: $0, step: 1) }.max() ?? 0
    }
}
