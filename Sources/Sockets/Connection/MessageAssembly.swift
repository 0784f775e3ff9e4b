internal import Wire

/// Reassembles the pieces of one WebSocket message, within the size limits of PROTOCOL, "Hello".
///
/// libwebsockets splits even small messages at the end of its read buffer and has no maximum size. Whole messages, which are
/// nearly all, bypass this type.
package struct MessageAssembly {
    package init() {}

    package private(set) var bytes: [UInt8] = []
    private var isBinary = false

    var isEmpty: Bool { bytes.isEmpty }

    /// Adds a piece. Memory is allocated for bytes received, never for bytes announced.
    ///
    /// - Parameter remaining: how many bytes of the same WebSocket frame are still to come.
    /// - Returns: false if the message is, or will be, too big.
    package mutating func append(_ piece: UnsafeRawBufferPointer, isFirst: Bool, isBinary: Bool, remaining: Int) -> Bool {
        if isFirst {
            bytes.removeAll(keepingCapacity: true)
            self.isBinary = isBinary
        }
        // A subtraction, because a frame may announce up to 2⁶³ - 1 bytes.
        guard remaining <= Self.limit(isBinary: self.isBinary) - bytes.count - piece.count else { return false }
        unsafe bytes.append(contentsOf: piece)
        return true
    }

    /// Frees the memory if it was a lot.
    package mutating func reset() {
        if bytes.capacity > 4_096 { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
    }

    package static func limit(isBinary: Bool) -> Int {
        isBinary ? ProtocolLimits.messageBytesMax : ProtocolLimits.controlBytesMax
    }
}
