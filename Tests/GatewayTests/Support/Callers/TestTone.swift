import Audio
import Foundation

/// One second of a tone in Opus packets of 20 ms, all different.
enum TestTone {
    static let packets: [[UInt8]] = {
        var encoder = try! OpusEncoder()
        return (0..<50).map { frame in
            let tone = (0..<960).map { Int16(8_000 * sin(2 * Double.pi * 440 * Double(frame * 960 + $0) / 48_000)) }
            return try! encoder.encode(tone)
        }
    }()
}
