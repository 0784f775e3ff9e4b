internal import Foundation

/// The audio level of a frame (RFC 6464): 0 (loudest) to 127 (silence) in -dBov.
///
/// 0 dBov is the overload point, a full-scale square wave. A full-scale sine wave therefore has level 3.
public struct AudioLevel: Hashable, Sendable, CustomStringConvertible {
    /// Digital silence, or anything below -126.5 dBov.
    public static let silence = AudioLevel(127)

    /// 0 to 127, in decibels below overload.
    public let value: UInt8

    /// Values above 127 are silence.
    public init(_ value: UInt8) {
        self.value = min(value, 127)
    }

    /// The root mean square of all samples and channels (RFC 6465 appendix A). An empty span is silence.
    public init(of pcm: Span<Int16>) {
        self.init(decibels: Self.decibels(of: pcm))
    }

    public init(of pcm: [Int16]) {
        self.init(of: pcm.span)
    }

    init(decibels: Double) {
        self.init(UInt8((-decibels).rounded().clamped(to: 0...127)))
    }

    /// The level in decibels, 0 to -127.
    public var dBov: Int { -Int(value) }

    public var description: String { "\(dBov) dBov" }

    /// Between -127 and 0.
    static func decibels(of pcm: Span<Int16>) -> Double {
        var energy: UInt64 = 0
        for index in pcm.indices {
            let sample = Int64(pcm[index])
            energy &+= UInt64(sample * sample)
        }
        guard energy > 0 else { return -127 }
        let meanSquare = Double(energy) / Double(pcm.count)
        return (10 * log10(meanSquare / overloadSquared)).clamped(to: -127...0)
    }

    private static let overloadSquared = 32_767.0 * 32_767.0
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
