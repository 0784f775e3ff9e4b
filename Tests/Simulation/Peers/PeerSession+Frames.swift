internal import DequeModule
internal import Engine
internal import Wire

/// Checks of received frames: permitted, in order, unchanged, and with gaps marked.
extension PeerSession {
    func receive(_ frame: [UInt8]) {
        world.expect(hello != nil, "\(self) receives a frame before hello")
        let number = Ledger.number(of: frame)
        guard number >= 0, number < world.ledger.frames.count else { return world.fail("\(self) receives a frame that was never sent") }
        let entry = world.ledger.frames[number]
        let header = FrameReading.uncheckedHeader(of: frame)
        world.counts.received += 1
        world.expect(entry.session.peer !== peer, "\(self) receives its own frame")
        world.expect(entry.session.peer.room == peer.room, "\(self) receives a frame of another room")
        world.expect(entry.isDeliverable, "\(self) receives frame \(number) of \(entry.session), which must be dropped")
        if let since = forbiddenSince {
            world.expect(entry.sentAt <= since + world.swarm.propagationDelayMax, "\(self) receives a frame without permission")
        }
        world.expect(
            named[header.alias.value] == entry.track, "\(self) receives \(entry.track) with alias \(header.alias.value) of another track"
        )
        if let holdSince { world.expect(entry.sentAt <= holdSince, "\(self) receives a frame while on hold") }
        if let since = unsubscribedSince[entry.track] {
            world.expect(entry.sentAt <= since + world.swarm.propagationDelayMax, "\(self) receives a frame of an unsubscribed track")
        }
        if entry.mode == .ahead { forgetOrderIfResubscribed(entry.track) } else { forgetOrderIfInFlight(entry) }
        world.expect(number > lastReceived[entry.track] ?? -1, "\(self) receives frame \(number) of \(entry.track) again or out of order")
        lastReceived[entry.track] = number
        if entry.mode == .ahead { play(entry, header) }
        checkBytes(frame, header, entry)
        checkGap(before: number, header)
        if entry.mustBeDelivered { receivedRequired.insert(number) }
    }

    /// A frame that was in flight between shards during a resume may be received on both connections.
    private func forgetOrderIfInFlight(_ entry: Ledger.Frame) {
        guard receivedBeforeResume.remove(entry.track) != nil, let passedAt = entry.passedAt else { return }
        if passedAt + world.swarm.propagationDelayMax > connection.openedAt { lastReceived[entry.track] = nil }
    }

    /// The frame must equal the sent one except for flag 0x08.
    private func checkBytes(_ frame: [UInt8], _ header: FrameHeader, _ entry: Ledger.Frame) {
        var sent = header
        sent.flags.remove(.discontinuity)
        world.expect(
            sent == entry.header && frame.count == entry.size, "\(self) receives a modified frame: \(header), sent as \(entry.header)")
    }

    /// Flag 0x08 must be set exactly after dropped frames, and all missing frames must have been counted as dropped.
    private func checkGap(before number: Int, _ header: FrameHeader) {
        var hasDropped = false
        while let first = connection.handed[header.alias.value]?.first, first.frame != number {
            world.expect(first.isDropped, "\(self) misses frame \(first.frame), which was forwarded and not dropped")
            hasDropped = true
            connection.handed[header.alias.value]?.removeFirst()
            if world.failure != nil { return }
        }
        guard let found = connection.handed[header.alias.value]?.popFirst() else {
            return world.fail("\(self) receives frame \(number), which was not forwarded to it")
        }
        world.expect(!found.isDropped, "\(self) receives frame \(number), which was counted as dropped")
        // Queued `ahead` frames are never dropped later; rejected ones are missing for all subscribers.
        if world.afterGap.contains(number) { hasDropped = true }
        let isMarked = header.flags.contains(.discontinuity)
        world.expect(
            isMarked == hasDropped,
            isMarked
                ? "\(self) receives frame \(number) with 0x08 but misses nothing"
                : "\(self) receives frame \(number) without 0x08 after a gap")
    }
}
