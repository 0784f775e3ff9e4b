import Testing

@testable import Sockets

struct MaskCheckTests {
    /// A client's frame header for that length, with 16 bytes of something before it.
    private func header(_ length: Int, masked: Bool, opcode: UInt8, isFinal: Bool, mask: [UInt8], before: UInt8) -> [UInt8] {
        var bytes = [UInt8](repeating: before, count: 16)
        bytes.append((isFinal ? 0x80 : 0) | opcode)
        let bit: UInt8 = masked ? 0x80 : 0
        bytes += length < 126 ? [bit | UInt8(length)] : [bit | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        return bytes + (masked ? mask : [])
    }

    private func isUnmasked(_ header: [UInt8], length: Int) -> Bool {
        (header + [UInt8](repeating: 0x55, count: length)).withUnsafeBytes {
            MaskCheck.isUnmasked($0.baseAddress! + header.count, length: length)
        }
    }

    @Test(arguments: [UInt8(1), 2])
    func anUnmaskedFrameIsFoundAtEveryLength(opcode: UInt8) {
        for length in 1...2_000 {
            for isFinal in [true, false] {
                // Nothing before it may look like a masked header; lws's buffer rarely does.
                let header = header(length, masked: false, opcode: opcode, isFinal: isFinal, mask: [], before: 0)
                #expect(isUnmasked(header, length: length), "\(length) bytes")
            }
        }
    }

    @Test(arguments: [UInt8(1), 2])
    func aMaskedFrameIsNeverTakenForOne(opcode: UInt8) {
        var random = SplitMix(seed: UInt64(opcode))
        for length in 1...2_000 {
            for _ in 0..<8 {
                let mask = (0..<4).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                let header = header(
                    length, masked: true, opcode: opcode, isFinal: random.next() % 2 == 0, mask: mask,
                    before: UInt8(truncatingIfNeeded: random.next()))
                #expect(!isUnmasked(header, length: length), "\(length) bytes")
            }
        }
    }

    /// The worst masks: those whose bytes are just what an unmasked header would be.
    @Test func aMaskThatLooksLikeAHeaderIsNotTakenForOne() {
        for length in 1...2_000 {
            for first in [UInt8(0x81), 0x82, 0x01, 0x02] {
                let mask = length < 126 ? [0x7F, 0x7F, first, UInt8(length)] : [first, 0x7E, UInt8(length >> 8), UInt8(length & 0xFF)]
                let header = header(length, masked: true, opcode: first & 0x0F, isFinal: first > 0x7F, mask: mask, before: first)
                #expect(!isUnmasked(header, length: length), "\(length) bytes")
            }
        }
    }

    /// A read may end inside a header; what stands before the payload then is the end of it, and what was in the buffer before.
    @Test func aHeaderCutOffByTheEndOfAReadIsNeverTakenForOne() {
        var random = SplitMix(seed: 7)
        for length in 1...2_000 {
            let mask = (0..<4).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let whole = Array(header(length, masked: true, opcode: 2, isFinal: true, mask: mask, before: 0).dropFirst(16))
            for kept in 0..<whole.count {
                let header = [UInt8](repeating: 0, count: 16) + whole.suffix(kept)
                #expect(!isUnmasked(header, length: length), "\(kept) bytes of the header before \(length)")
            }
        }
    }

    @Test func longerFramesThanAnyThatIsAllowedAreLetThrough() {
        #expect(!isUnmasked([UInt8](repeating: 0x82, count: 16), length: 65_536))
        #expect(!isUnmasked([UInt8](repeating: 0x82, count: 16), length: 1 << 20))
    }
}

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
