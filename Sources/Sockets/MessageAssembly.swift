internal import Wire

/// Puts the pieces of one WebSocket message together, within the limits of PROTOCOL section 2.
///
/// lws cuts even small messages where its read buffer ends and knows no maximum, so both are done here. Whole messages,
/// which is nearly all, never come here.
struct MessageAssembly {
    private(set) var bytes: [UInt8] = []
    private var isBinary = false

    var isEmpty: Bool { bytes.isEmpty }

    /// Adds a piece. Memory is taken for what has come, never for what was announced.
    ///
    /// - Parameter remaining: how many bytes of the same WebSocket frame are still to come.
    /// - Returns: false if the message is, or will be, too big.
    mutating func append(_ piece: UnsafeRawBufferPointer, isFirst: Bool, isBinary: Bool, remaining: Int) -> Bool {
        if isFirst {
            bytes.removeAll(keepingCapacity: true)
            self.isBinary = isBinary
        }
        // A subtraction, because a frame may announce up to 2⁶³ - 1 bytes.
        guard remaining <= Self.limit(isBinary: self.isBinary) - bytes.count - piece.count else { return false }
        unsafe bytes.append(contentsOf: piece)
        return true
    }

    /// Gives the memory back if it was much.
    mutating func reset() {
        if bytes.capacity > 4_096 { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
    }

    static func limit(isBinary: Bool) -> Int {
        isBinary ? ProtocolLimits.messageBytesMax : ProtocolLimits.controlBytesMax
    }
}
