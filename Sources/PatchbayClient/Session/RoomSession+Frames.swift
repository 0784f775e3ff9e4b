internal import Sockets
internal import Wire

/// Media, both ways. The only things made for a frame are its bytes.
extension RoomSession {
    /// How often to look whether the socket takes more, while frames wait.
    static var pumpInterval: Duration { .milliseconds(10) }
    /// What may lie in the kernel unacknowledged before frames wait with us, where they can still be dropped.
    private static var unacknowledgedBytesMax: Int { 24 * 1_024 }

    // MARK: Out

    func send(_ frame: OutgoingFrame, track: Int) {
        guard let own = published[track] else { return mirror.count { $0.framesUnsent += 1 } }
        // Numbered also while there is no line, so that listeners see what they missed.
        let numbers = own.numbering.number(ticks: frame.ticks, frame.timing, flags: frame.flags, at: thread.now)
        guard let alias = own.alias, case .open = phase else { return mirror.count { $0.framesUnsent += 1 } }
        let header = FrameHeader(
            flags: numbers.flags, alias: alias, sequence: numbers.sequence, level: frame.level, epoch: own.epoch,
            timestamp: numbers.timestamp)
        let bytes = header.bytes + frame.packet
        let isAhead = own.description.mode == .ahead
        if isAhead ? aheadQueue.isEmpty : queue.isEmpty, hasRoom {
            write(bytes)
            return
        }
        let dropped = isAhead ? aheadQueue.append(bytes) : queue.append(bytes)
        mirror.count { $0.framesUnsent += UInt64(dropped) }
        connection?.askForWritable()
        thread.arm(at: thread.now + Self.pumpInterval)
    }

    var hasWaiting: Bool { !queue.isEmpty || !aheadQueue.isEmpty }

    /// Sends what waits, as far as the socket goes; first what is live.
    func sendWaiting() {
        while hasWaiting, hasRoom, let frame = queue.popFirst() ?? aheadQueue.popFirst() { write(frame) }
    }

    private var hasRoom: Bool {
        guard let connection, !connection.isCongested else { return false }
        return (connection.tcp.unacknowledgedBytes ?? 0) < Self.unacknowledgedBytesMax
    }

    private func write(_ frame: [UInt8]) {
        connection?.write(binary: frame)
        mirror.count { $0.framesSent += 1 }
    }

    // MARK: In

    func listen(to sid: TrackSID, _ sink: FrameSink) {
        remote.listen(to: sid, sink)
    }

    func take(binary message: UnsafeRawBufferPointer) {
        heard()
        let arrival = MediaClock.now
        guard message.first == FrameKind.bundle.rawValue else { return received(frame: message, at: arrival) }
        do throws(FrameError) {
            try Bundle.forEachFrame(in: message) { received(frame: $0, at: arrival) }
        } catch {
            mirror.count { $0.framesUnheard += 1 }
        }
    }

    private func received(frame bytes: UnsafeRawBufferPointer, at arrival: Instant) {
        guard let header = Self.header(of: bytes) else { return mirror.count { $0.framesUnheard += 1 } }
        let packet = Array(bytes.dropFirst(ProtocolLimits.frameHeaderBytes))
        let report = remote.receive(ReceivedFrame(header: header, packet: packet, arrivedAt: arrival))
        mirror.count { statistics in
            statistics.framesReceived += 1
            statistics.framesLost += UInt64(report.lost)
            statistics.framesUnheard += UInt64(report.unheard)
            statistics.framesOverflowed += UInt64(report.overflowed)
        }
    }

    /// As `FrameHeader(parsing:)` reads it, but the gateway may set 0x08.
    private static func header(of bytes: UnsafeRawBufferPointer) -> FrameHeader? {
        guard bytes.count > ProtocolLimits.frameHeaderBytes, bytes.count <= ProtocolLimits.frameBytesMax, let base = bytes.baseAddress,
            bytes.first == FrameKind.audio.rawValue
        else { return nil }
        return FrameHeader(unchecked: base)
    }
}
