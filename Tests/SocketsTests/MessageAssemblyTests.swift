import Testing
import Wire

@testable import Sockets

struct MessageAssemblyTests {
    private func append(_ count: Int, _ assembly: inout MessageAssembly, isFirst: Bool = false, isBinary: Bool = true, remaining: Int = 0)
        -> Bool
    {
        [UInt8](repeating: 7, count: count).withUnsafeBytes {
            assembly.append($0, isFirst: isFirst, isBinary: isBinary, remaining: remaining)
        }
    }

    @Test func piecesComeTogetherInOrder() {
        var assembly = MessageAssembly()
        for piece in [[1, 2], [3], [], [4, 5, 6]] as [[UInt8]] {
            #expect(piece.withUnsafeBytes { assembly.append($0, isFirst: piece == [1, 2], isBinary: true, remaining: 0) })
        }
        #expect(assembly.bytes == [1, 2, 3, 4, 5, 6])
    }

    @Test(arguments: [(true, ProtocolLimits.messageBytesMax), (false, ProtocolLimits.controlBytesMax)])
    func aMessageMayHaveJustItsLimit(isBinary: Bool, limit: Int) {
        var assembly = MessageAssembly()
        #expect(append(limit, &assembly, isFirst: true, isBinary: isBinary))
        #expect(!append(1, &assembly, isBinary: isBinary))
        #expect(!append(limit + 1, &assembly, isFirst: true, isBinary: isBinary))
    }

    @Test func whatIsAnnouncedTooBigIsRefusedBeforeItComes() {
        var assembly = MessageAssembly()
        #expect(append(10, &assembly, isFirst: true, remaining: ProtocolLimits.messageBytesMax - 10))
        #expect(!append(10, &assembly, isFirst: true, remaining: ProtocolLimits.messageBytesMax - 9))
        #expect(!append(10, &assembly, isFirst: true, remaining: .max))
        #expect(assembly.bytes.capacity < 1_024, "no memory is taken for what was announced")
    }

    @Test func whatIsAnnouncedInALaterPieceCannotOverflow() {
        var assembly = MessageAssembly()
        #expect(append(10, &assembly, isFirst: true))
        #expect(!append(10, &assembly, remaining: .max))
        #expect(!append(10, &assembly, remaining: .max - 10))
    }

    /// RFC 6455 section 5.4: only the first piece says what the message is.
    @Test func theFirstPieceTellsWhichLimitHolds() {
        var assembly = MessageAssembly()
        #expect(append(10, &assembly, isFirst: true, isBinary: false))
        #expect(append(ProtocolLimits.messageBytesMax, &assembly, isBinary: true))
    }

    @Test func aFirstPieceForgetsWhatWasBefore() {
        var assembly = MessageAssembly()
        #expect(append(10, &assembly, isFirst: true))
        #expect(append(3, &assembly, isFirst: true))
        #expect(assembly.bytes.count == 3)
    }

    @Test func muchMemoryIsGivenBack() {
        var assembly = MessageAssembly()
        #expect(append(60_000, &assembly, isFirst: true, isBinary: false))
        assembly.reset()
        #expect(assembly.isEmpty)
        #expect(assembly.bytes.capacity == 0)
        #expect(append(100, &assembly, isFirst: true))
        assembly.reset()
        #expect(assembly.bytes.capacity > 0, "and little is kept")
    }
}
