internal import Wire

/// When a message leaves.
enum FlushTiming {
    case now
    /// With all others of the batch of records being processed, if there is one.
    case batch
    /// At the end of the loop's turn, so that all messages of a turn to one socket take one system call.
    case turn
    /// With the next message that leaves earlier, and after this time at the latest (the loop looks every 20 ms).
    case delayed(milliseconds: UInt8)
}

/// Frames of a connection that wait to leave together: in one TLS record and one system call.
struct DeferredMessages {
    private var bytes: [UInt8] = []
    /// The latest time for them to leave; nil: the end of the turn.
    private(set) var deadline: Instant?
    /// The connection is in `Turn.queue`, or in `Turn.timerQueue`.
    var isOnTurnList = false
    var isOnTimerList = false

    var isEmpty: Bool { bytes.isEmpty }

    /// - Parameter deadline: nil for the end of the turn. The earliest counts.
    /// - Returns: false if there is no room.
    mutating func append(_ frame: UnsafeRawBufferPointer, followedByPing ping: UInt32?, until deadline: Instant?) -> Bool {
        let count = frame.count + (ping == nil ? 0 : Ping.bytes)
        guard bytes.count + count <= StreamBuffers.contentMax - Ping.bytes else { return false }
        if bytes.isEmpty {
            bytes.reserveCapacity(1_024)
            self.deadline = deadline
        } else if let earlier = self.deadline {
            self.deadline = deadline.map { min($0, earlier) }
        }
        unsafe bytes.append(contentsOf: frame)
        if let ping {
            unsafe withUnsafeTemporaryAllocation(byteCount: Ping.bytes, alignment: 4) { room in
                unsafe Ping.write(ping, to: room.baseAddress!)
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(room))
            }
        }
        return true
    }

    mutating func take() -> [UInt8] {
        defer { (bytes, deadline) = ([], nil) }
        return bytes
    }
}

// MARK: On a connection

extension Connection {
    /// Keeps a message to leave together with others.
    ///
    /// - Returns: false if it has to leave at once.
    func putOff(_ frame: UnsafeRawBufferPointer, _ ping: UInt32?, _ milliseconds: UInt8? = nil) -> Bool {
        let deadline = milliseconds.map { unsafe loop.now.advanced(byNanoseconds: Int64($0) * 1_000_000) }
        guard !isCongested, unsafe deferred.append(frame, followedByPing: ping, until: deadline) else { return false }
        if unsafe deferred.deadline == nil { unsafe loop.flushAtTurnEnd(self) } else { unsafe loop.flushOnTimer(self) }
        return true
    }

    /// - Returns: whether nothing waits for the socket.
    @discardableResult
    func flushDeferred() -> Bool {
        guard unsafe !deferred.isEmpty else { return true }
        let bytes = unsafe deferred.take()
        return unsafe bytes.withUnsafeBytes { unsafe writeNow($0) }
    }

    /// The end of a batch or turn: messages that may not wait longer leave, then control frames.
    func finishTurn() {
        unsafe deferred.isOnTurnList = false
        if unsafe deferred.deadline == nil { flushDeferred() }
        writeControl()
    }

    /// - Returns: whether messages still wait for it.
    func finishTimer(before next: Instant) -> Bool {
        if let deadline = unsafe deferred.deadline, deadline >= next { return true }
        unsafe deferred.isOnTimerList = false
        flushDeferred()
        return false
    }
}
