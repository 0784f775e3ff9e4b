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

    /// A frame is refused at the same byte, however reads cut the stream.
    static func scan(_ bytes: [UInt8]) {
        var whole = ClientFrameScanner()
        let expected = bytes.withUnsafeBytes { whole.firstViolation(in: $0) }
        var byByte = ClientFrameScanner()
        for (index, byte) in bytes.enumerated() {
            let violation = withUnsafeBytes(of: byte) { byByte.firstViolation(in: $0) }
            guard violation != nil else { continue }
            return precondition(expected == index, "a violation depends on how the stream is cut")
        }
        precondition(expected == nil, "a violation depends on how the stream is cut")
    }
}
