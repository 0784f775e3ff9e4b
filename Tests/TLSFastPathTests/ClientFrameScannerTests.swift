import Testing
import Wire

@testable import TLSFastPath

struct ClientFrameScannerTests {
    private static let mask: [UInt8] = [1, 2, 3, 4]

    private static func frame(_ first: UInt8, _ count: Int, masked: Bool = true) -> [UInt8] {
        let bit: UInt8 = masked ? 0x80 : 0
        let length: [UInt8] =
            switch count {
            case ..<126: [bit | UInt8(count)]
            case ..<65_536: [bit | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
            default: [bit | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            }
        return [first] + length + (masked ? mask : []) + [UInt8](repeating: 0x82, count: count)
    }

    private static func violation(_ bytes: [UInt8], piece: Int = .max) -> Int? {
        var scanner = ClientFrameScanner()
        var start = 0
        while start < bytes.count {
            let end = piece < bytes.count - start ? start + piece : bytes.count
            if let offset = bytes[start..<end].withUnsafeBytes({ scanner.firstViolation(in: $0) }) { return start + offset }
            start = end
        }
        return nil
    }

    /// Whole, and cut into pieces of every small size.
    private static let pieces = [Int.max, 1, 2, 3, 7]

    @Test(arguments: pieces)
    func maskedFramesPass(piece: Int) {
        let stream =
            [0, 1, 125, 126, 1_000, 65_535, 65_536].flatMap { Self.frame(0x82, $0) }
            + Self.frame(0x01, 5) + Self.frame(0x89, 3) + Self.frame(0x00, 5) + Self.frame(0x80, 0) + Self.frame(0x8A, 125)
            + Self.frame(0x88, 2)
        #expect(Self.violation(stream, piece: piece) == nil)
    }

    @Test(arguments: pieces, [UInt8(0x81), 0x82, 0x01, 0x88, 0x89, 0x8A])
    func unmaskedFramesAreFoundAtTheirSecondByte(piece: Int, first: UInt8) {
        let before = Self.frame(0x82, 300)
        for count in [0, 1, 125] {
            #expect(Self.violation(before + Self.frame(first, count, masked: false), piece: piece) == before.count + 1)
        }
    }

    @Test(arguments: pieces)
    func unmaskedContinuationsAreFound(piece: Int) {
        let before = Self.frame(0x02, 20)
        #expect(Self.violation(before + Self.frame(0x00, 5, masked: false), piece: piece) == before.count + 1)
        #expect(Self.violation(before + Self.frame(0x80, 5, masked: false), piece: piece) == before.count + 1)
    }

    @Test(arguments: [UInt8(0xC1), 0xA2, 0x92, 0x83, 0x87, 0x8B, 0x8F, 0x09, 0x08, 0x0A, 0x80, 0x00])
    func badFirstBytesAreFound(first: UInt8) {
        #expect(Self.violation(Self.frame(first, 1)) == 0)
    }

    @Test func aMessageInsideAnotherIsFound() {
        let before = Self.frame(0x01, 1)
        #expect(Self.violation(before + Self.frame(0x81, 1)) == before.count)
    }

    @Test func aLongControlFrameIsFound() {
        #expect(Self.violation(Self.frame(0x89, 126)) == 1)
    }

    @Test func theLongestLengthDoesNotOverflow() {
        #expect(Self.violation([0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 8) + [UInt8](repeating: 0, count: 1_000)) == nil)
    }
}

/// A generator that gives the same numbers in every run.
struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
