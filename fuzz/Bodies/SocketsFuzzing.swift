private import Sockets
private import TLSFastPath

/// Feeds the parsers of `Sockets` and `TLSFastPath` with arbitrary bytes. A trap is a finding.
enum SocketsFuzzing {
    /// The first two bytes select how the message is split, the rest is the message.
    static func read(_ bytes: [UInt8]) {
        guard bytes.count > 10 else { return }
        let (choice, pieceLength) = (bytes[0], Int(bytes[1]) + 1)
        var assembly = MessageAssembly()
        let isBinary = choice & 1 == 1
        var rest = bytes[2...]
        var isFirst = true
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceLength))
            rest = rest.dropFirst(piece.count)
            let remaining = choice & 2 == 0 ? rest.count : Int(truncatingIfNeeded: Int64(choice) << 55) & Int.max
            let isTaken = piece.withUnsafeBytes {
                assembly.append($0, isFirst: isFirst, isBinary: isBinary, remaining: remaining)
            }
            guard isTaken else { break }
            isFirst = false
        }
        precondition(assembly.bytes.count <= MessageAssembly.limit(isBinary: isBinary), "a message is never longer than it may be")
        assembly.reset()
    }

    /// The findings in a stream, and the bytes left of it, do not depend on how reads split it.
    static func scan(_ bytes: [UInt8]) {
        var whole = ClientFrameScanner()
        var all = bytes
        let expected = all.withUnsafeMutableBytes { whole.scan($0) }
        var byByte = ClientFrameScanner()
        var nothing: [UInt8] = []
        var found = nothing.withUnsafeMutableBytes { byByte.scan($0) }
        var kept: [UInt8] = []
        for (index, byte) in bytes.enumerated() where found.violation == nil {
            var piece = [byte]
            let findings = piece.withUnsafeMutableBytes { byByte.scan($0) }
            kept += piece.prefix(findings.kept)
            found.ping = findings.ping ?? found.ping
            found.closeCode = findings.closeCode ?? found.closeCode
            found.violation = findings.violation
            found.violation?.offset = index
        }
        found.kept = kept.count
        precondition(found == expected, "what is found depends on how the stream is cut")
        precondition(kept == Array(all.prefix(expected.kept)), "what is left depends on how the stream is cut")
    }

    /// The first byte selects how the rest, the stream, is split. The bytes that pass do not depend on the split, and never exceed the
    /// reader's buffer.
    static func admit(_ bytes: [UInt8]) {
        guard let pieceLength = bytes.first.map({ Int($0) + 1 }) else { return }
        var whole = RequestGate()
        var expected: [UInt8] = []
        var all = bytes.dropFirst()
        while !all.isEmpty { whole.admit(&all, to: &expected) }
        var inPieces = RequestGate()
        var passed: [UInt8] = []
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            var piece = rest.prefix(pieceLength)
            rest = rest.dropFirst(pieceLength)
            while !piece.isEmpty {
                let (before, count) = (passed.count + inPieces.heldBytes, piece.count)
                inPieces.admit(&piece, to: &passed)
                precondition(piece.count < count, "nothing of what was received is taken")
                precondition(
                    passed.count + inPieces.heldBytes <= before + count - piece.count + RequestGate.refusalBytesMax,
                    "more passes than was received")
            }
        }
        precondition(passed == expected && inPieces.isOver == whole.isOver, "what passes depends on how the stream is cut")
    }
}
