internal import Wire

/// A door for a fuzzer to what here looks at bytes itself; the rest is lws's. Whatever they are, it returns; a trap is a finding.
package enum SocketsFuzzing {
    /// The first bytes say how a message comes in pieces, the rest is the message, with what stood before it in the buffer.
    package static func read(_ bytes: [UInt8]) {
        guard bytes.count > 10 else { return }
        let (choice, pieceLength) = (bytes[0], Int(bytes[1]) + 1)
        unsafe bytes.withUnsafeBytes { all in
            // Eight bytes before a payload can always be read.
            guard let start = all.baseAddress else { return }
            _ = unsafe MaskCheck.isUnmasked(start + 10, length: max(1, bytes.count - 10))
        }
        var assembly = MessageAssembly()
        let isBinary = choice & 1 == 1
        var rest = bytes[2...]
        var isFirst = true
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieceLength))
            rest = rest.dropFirst(piece.count)
            let remaining = choice & 2 == 0 ? rest.count : Int(truncatingIfNeeded: Int64(choice) << 55) & Int.max
            let isTaken = unsafe piece.withUnsafeBytes {
                unsafe assembly.append($0, isFirst: isFirst, isBinary: isBinary, remaining: remaining)
            }
            guard isTaken else { break }
            isFirst = false
        }
        precondition(assembly.bytes.count <= MessageAssembly.limit(isBinary: isBinary), "a message is never longer than it may be")
        assembly.reset()
    }
}
