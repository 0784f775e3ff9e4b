import Testing
import Wire

@testable import Sockets

/// What is written is what RFC 6455 section 5.2 prescribes, and what the other end reads.
struct FrameWritingTests {
    private static let opcodes: [WebSocketOpcode] = [.text, .binary, .close, .ping, .pong]

    /// Writes a frame with untouched bytes around it.
    private static func write(_ opcode: WebSocketOpcode, _ payload: [UInt8], mask: UInt32?) -> [UInt8] {
        let headroom = 20
        var memory = [UInt8](repeating: 0xEE, count: headroom) + payload + [0xEE, 0xEE]
        let start = memory.withUnsafeMutableBytes { memory in
            let body = memory.baseAddress! + headroom
            let start =
                if let mask {
                    WebSocketFramer.writeMaskedHeader(opcode, payloadCount: payload.count, before: body, mask: mask)
                } else {
                    WebSocketFramer.writeHeader(opcode, payloadCount: payload.count, before: body)
                }
            return start - memory.baseAddress!
        }
        #expect(headroom - start <= (mask == nil ? 10 : 14))
        #expect(memory.prefix(start).allSatisfy { $0 == 0xEE } && memory.suffix(2) == [0xEE, 0xEE])
        return Array(memory[start..<(headroom + payload.count)])
    }

    private static func mask(_ bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } }

    @Test(arguments: opcodes)
    func framesAreWrittenByteByByteAsPrescribed(opcode: WebSocketOpcode) {
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 125, 126, 127, 1_000, 65_535, 65_536, 70_000] where count < 126 || !opcode.isControl {
            let frame = TestFrame(0x80 | opcode.rawValue, count: count)
            #expect(Self.write(opcode, frame.payload, mask: nil) == frame.masked(nil).bytes, "\(count) bytes")
            #expect(Self.write(opcode, frame.payload, mask: Self.mask([1, 0x82, 3, 0xF4])) == frame.masked([1, 0x82, 3, 0xF4]).bytes)
        }
    }

    @Test(arguments: [true, false])
    func theOtherEndReadsWhatWasWritten(masked: Bool) {
        var random = SplitMix64(seed: 6_455)
        var (bytes, expected): ([UInt8], [Received]) = ([], [])
        for length in Array(0...130) + [16_384, 65_535, 65_536] {
            let payload = [UInt8](repeating: UInt8(length & 0x7F), count: length)
            for opcode in Self.opcodes where opcode != .close && length <= (opcode.isControl ? 125 : opcode == .text ? 65_536 : 16_384) {
                bytes += Self.write(opcode, payload, mask: masked ? UInt32(truncatingIfNeeded: random.next()) : nil)
                expected.append(Received(opcode, payload))
            }
        }
        #expect(FrameStream(bytes, role: masked ? .server : .client).events == expected)
    }

    @Test(arguments: CloseReason.allCases)
    func everyCloseReasonIsReadAtTheOtherEnd(reason: CloseReason) {
        let payload = WebSocketFramer.closePayload(reason.code, reason.phrase)
        #expect(payload == [UInt8(reason.code >> 8), UInt8(reason.code & 0xFF)] + Array(reason.phrase.utf8))
        #expect(FrameStream(Self.write(.close, payload, mask: nil), role: .client).events == [.close(reason.code)])
    }

    @Test func aLongPhraseEndsWithAWholeCharacter() {
        #expect(WebSocketFramer.closePayload(1000, String(repeating: "a", count: 200)).count == 125)
        let payload = WebSocketFramer.closePayload(1000, String(repeating: "€🙂", count: 50))
        #expect(payload.count == 124)
        #expect(String(validating: payload.dropFirst(2), as: UTF8.self)?.hasSuffix("🙂€") == true)
        #expect(FrameStream(Self.write(.close, payload, mask: nil), role: .client).events == [.close(1000)])
    }

    @Test func aPhraseEndsWhereItIsCut() {
        let payload = WebSocketFramer.closePayload(1000, String(repeating: "a", count: 122) + "🙂b")
        #expect(payload.dropFirst(2).elementsEqual(repeatElement(0x61, count: 122)))
    }

    #if DEBUG
        @Test func writingAFrameThatIsNotAllowedTraps() async {
            await #expect(processExitsWith: .failure) { _ = Self.write(.ping, [UInt8](repeating: 0, count: 126), mask: nil) }
            await #expect(processExitsWith: .failure) { _ = WebSocketFramer.closePayload(1006, "") }
        }
    #endif

    /// RFC 6455 section 7.4.1: 1005 is never sent.
    @Test func aCloseWithoutACodeHasNoPayload() {
        #expect(WebSocketFramer.closePayload(1005, "ignored").isEmpty)
    }
}
