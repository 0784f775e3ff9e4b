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

    private static func close(_ payload: [UInt8]) -> [UInt8] {
        [0x88, 0x80 | UInt8(payload.count)] + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    private static func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        close([UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }

    /// What is found in a stream that arrives in pieces of this size.
    private struct Scan {
        /// What is left for libwebsockets.
        var kept: [UInt8] = []
        var violation: ClientFrameScanner.Violation?
        var pings: [[UInt8]] = []
        var closeCode: UInt16?

        init(_ bytes: [UInt8], piece: Int = .max) {
            var scanner = ClientFrameScanner()
            var start = 0
            while start < bytes.count, violation == nil {
                let end = piece < bytes.count - start ? start + piece : bytes.count
                var some = Array(bytes[start..<end])
                let findings = some.withUnsafeMutableBytes { scanner.scan($0) }
                kept += some.prefix(findings.kept)
                if let ping = findings.ping { pings.append(ping) }
                closeCode = findings.closeCode ?? closeCode
                violation = findings.violation.map { .init(offset: start + $0.offset, reason: $0.reason) }
                start = end
            }
        }
    }

    private static func violation(_ bytes: [UInt8], piece: Int = .max) -> Int? {
        let violation = Scan(bytes, piece: piece).violation
        #expect(violation == nil || violation?.reason == .webSocketProtocol)
        return violation?.offset
    }

    /// Whole, and cut into pieces of every small size.
    private static let pieces = [Int.max, 1, 2, 3, 7]

    @Test(arguments: pieces)
    func maskedFramesPass(piece: Int) {
        let stream =
            [0, 1, 125, 126, 1_000, 16_384].flatMap { Self.frame(0x82, $0) }
            + [65_535, 65_536].flatMap { Self.frame(0x81, $0) } + Self.frame(0x01, 5) + Self.frame(0x89, 3) + Self.frame(0x00, 5)
            + Self.frame(0x80, 0) + Self.frame(0x8A, 125)
            + Self.close(1000)
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

    /// So that a client that sends no payload after the header gets its CLOSE frame at once.
    @Test(arguments: pieces)
    func aMessageOverTheLimitIsFoundInItsHeader(piece: Int) {
        for (first, count) in [(0x82, 16_385), (0x81, 65_537), (0x01, 1 << 32), (0x82, .max >> 1)] as [(UInt8, UInt64)] {
            let header = [first, 0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            #expect(Scan(header, piece: piece).violation == .init(offset: 9, reason: .messageTooBig))
        }
        let begin = Self.frame(0x02, 16_000) + Self.frame(0x8A, 4)
        #expect(Scan(begin + Self.frame(0x80, 384), piece: piece).violation == nil)
        #expect(Scan(begin + Self.frame(0x80, 385), piece: piece).violation == .init(offset: begin.count + 3, reason: .messageTooBig))
    }

    @Test(arguments: pieces)
    func aLengthWithTheTopBitSetIsFoundAtThatByte(piece: Int) {
        #expect(Self.violation([0x82, 0xFF, 0x80] + [UInt8](repeating: 0, count: 7), piece: piece) == 2)
    }

    @Test(arguments: pieces)
    func pingsAreTakenOutAndAllElseIsLeft(piece: Int) {
        let (text, pong) = (Self.frame(0x01, 5), Self.frame(0x8A, 4))
        let scan = Scan(
            Self.frame(0x89, 0) + text + Self.frame(0x89, 125) + Self.frame(0x80, 300) + pong + Self.frame(0x89, 3), piece: piece)
        #expect(scan.kept == text + Self.frame(0x80, 300) + pong)
        #expect(scan.pings.last == [0x83, 0x80, 0x81])
        #expect(scan.violation == nil)
    }

    @Test(
        arguments: [
            (code: [0, 1, 999], isAllowed: false), ([1000, 1001, 1002, 1003], true), ([1004, 1005, 1006], false),
            ([1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014], true), ([1015, 1016, 1100, 1999, 2000, 2999], false),
            ([3000, 3999, 4000, 4999], true), ([5000, 32_768, 65_535], false),
        ] as [([UInt16], Bool)], pieces)
    func closeCodesAreThoseOfTheRegister(codes: ([UInt16], isAllowed: Bool), piece: Int) {
        for code in codes.0 {
            let frame = Self.close(code, Array("bye".utf8))
            let scan = Scan(frame, piece: piece)
            #expect(scan.violation == (codes.isAllowed ? nil : .init(offset: frame.count - 1, reason: .webSocketProtocol)), "\(code)")
            #expect(scan.closeCode == (codes.isAllowed ? code : nil))
            #expect(scan.kept == (codes.isAllowed ? frame : Array(frame.prefix(scan.kept.count))))
        }
    }

    @Test func aCloseFrameMayBeEmptyButNotHalfACode() {
        #expect(Scan(Self.close([])).closeCode == 1005)
        #expect(Self.violation(Self.close([3])) == 1)
    }

    @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]], pieces)
    func aReasonMustBeUTF8(reason: [UInt8], piece: Int) {
        #expect(Scan(Self.close(1000, reason), piece: piece).violation?.reason == .invalidText)
        #expect(Scan(Self.close(1000, Array("Grüße, 🙂".utf8)), piece: piece).violation == nil)
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
