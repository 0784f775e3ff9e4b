internal import Wire

/// Frames in both directions.
extension RoomSession {
    /// How often to check whether the socket accepts more while frames are queued.
    static var sendQueueInterval: Duration { .milliseconds(10) }

    // MARK: Sending

    func send(_ frame: OutgoingFrame, track: Int) {
        guard let own = published[track] else { return room.count { $0.framesUnsent += 1 } }
        // Frames are numbered while disconnected, too, so that subscribers see the gap.
        let numbers = own.numbering.number(ticks: frame.ticks, frame.timing, flags: frame.flags, at: now)
        guard let alias = own.alias, case .open = phase else { return room.count { $0.framesUnsent += 1 } }
        let header = FrameHeader(
            flags: numbers.flags, alias: alias, sequence: numbers.sequence, level: frame.level, epoch: own.epoch,
            timestamp: numbers.timestamp)
        let bytes = header.bytes + frame.packet
        let mode = own.description.mode
        if sendQueues.canBypass(mode), hasRoom { return write(bytes) }
        let dropped = sendQueues.append(bytes, mode)
        room.count { $0.framesUnsent += UInt64(dropped) }
        wake(at: now + Self.sendQueueInterval)
    }

    /// Sends queued frames as far as the socket accepts them, live frames first.
    func sendQueuedFrames() {
        while !sendQueues.isEmpty, hasRoom, let frame = sendQueues.popFirst() { write(frame) }
    }

    private var hasRoom: Bool { connection.map { !$0.isCongested } ?? false }

    private func write(_ frame: [UInt8]) {
        connection?.send(binary: frame)
        room.count { $0.framesSent += 1 }
    }

    // MARK: Clearing

    /// A track continues in a new epoch. For a clear by this client this is called twice: for the reply and for the event.
    func didClear(_ sid: TrackSID, epoch: UInt8) {
        remote.clear(sid, epoch: epoch)
        guard let own = published.values.first(where: { $0.handle.info.sid == sid }), own.epoch != epoch else { return }
        own.epoch = epoch
        own.numbering.clear()
        own.handle.didClear()
        if let alias = own.alias { dropUnsentFrames(of: alias) }
    }

    func dropUnsentFrames(of alias: TrackAlias) {
        let unsent = sendQueues.removeAhead(of: alias)
        room.count { $0.framesUnsent += UInt64(unsent) }
    }

    // MARK: Receiving

    func handle(media message: UnsafeRawBufferPointer) {
        didReceiveActivity()
        let arrival = MediaClock.now
        guard message.first == FrameKind.bundle.rawValue else { return handle(frame: message, at: arrival) }
        do throws(FrameError) {
            try Bundle.forEachFrame(in: message) { handle(frame: $0, at: arrival) }
        } catch {
            room.count { $0.framesUnheard += 1 }
        }
    }

    private func handle(frame bytes: UnsafeRawBufferPointer, at arrival: Instant) {
        guard let header = Self.header(of: bytes) else { return room.count { $0.framesUnheard += 1 } }
        let packet = Array(bytes.dropFirst(ProtocolLimits.frameHeaderBytes))
        let delivery = remote.receive(ReceivedFrame(header: header, packet: packet, arrivedAt: arrival))
        room.count { statistics in
            statistics.framesReceived += 1
            statistics.framesLost += UInt64(delivery.lost)
            statistics.framesCleared += UInt64(delivery.cleared)
            statistics.framesUnheard += UInt64(delivery.undelivered)
            statistics.framesOverflowed += UInt64(delivery.overflowed)
        }
    }

    /// As `FrameHeader(parsing:)`, but accepts the flag 0x08, which only the gateway may set.
    private static func header(of bytes: UnsafeRawBufferPointer) -> FrameHeader? {
        guard bytes.count > ProtocolLimits.frameHeaderBytes, bytes.count <= ProtocolLimits.frameBytesMax, let base = bytes.baseAddress,
            bytes.first == FrameKind.audio.rawValue
        else { return nil }
        return FrameHeader(unchecked: base)
    }
}
