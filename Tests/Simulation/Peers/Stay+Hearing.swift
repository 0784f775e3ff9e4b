internal import DequeModule
internal import Engine
internal import Wire

/// Frames: whose, in which order, and which not.
extension Stay {
    func hear(_ frame: [UInt8]) {
        world.expect(hello != nil, "\(self) hears a frame before hello")
        let number = Ledger.number(of: frame)
        guard number >= 0, number < world.ledger.frames.count else { return world.fail("\(self) hears a frame that nobody sent") }
        let said = world.ledger.frames[number]
        let header = FrameReading.uncheckedHeader(of: frame)
        world.tally.heard += 1
        world.expect(said.stay.peer !== peer, "\(self) hears itself")
        world.expect(said.stay.peer.room == peer.room, "\(self) hears another room")
        world.expect(said.mayBeHeard, "\(self) hears frame \(number) of \(said.stay), which nobody may hear")
        if let since = forbiddenSince {
            world.expect(said.sentAt <= since + world.swarm.newsDelayMax, "\(self) hears what it may not")
        }
        world.expect(
            named[header.alias.value] == said.track, "\(self) hears \(said.track) by alias \(header.alias.value), which it knows as another"
        )
        if let deafSince { world.expect(said.sentAt <= deafSince, "\(self) hears while it is on hold") }
        if let since = unsubscribedSince[said.track] {
            world.expect(said.sentAt <= since + world.swarm.newsDelayMax, "\(self) hears a track that it does not want to")
        }
        if said.mode == .ahead { forgetOrderIfAnew(said.track) } else { forgetOrderIfOnItsWay(said) }
        world.expect(number > lastHeard[said.track] ?? -1, "\(self) hears frame \(number) of \(said.track) again, or too late")
        lastHeard[said.track] = number
        if said.mode == .ahead { play(said, header) }
        checkBytes(frame, header, said)
        checkGap(before: number, header)
        if said.mustBeHeard { mustHaveHeard.insert(number) }
    }

    /// A frame of the last moments of the connection before may come on this one as well: its way to another shard is longer, and whether
    /// the old socket's peer got it nobody knows.
    private func forgetOrderIfOnItsWay(_ said: Ledger.Frame) {
        guard heardBefore.remove(said.track) != nil, let passedAt = said.passedAt else { return }
        if passedAt + world.swarm.newsDelayMax > line.openedAt { lastHeard[said.track] = nil }
    }

    /// Byte for byte as it was sent, but for 0x08.
    private func checkBytes(_ frame: [UInt8], _ header: FrameHeader, _ said: Ledger.Frame) {
        var sent = header
        sent.flags.remove(.discontinuity)
        world.expect(sent == said.header && frame.count == said.size, "\(self) hears a frame that was changed: \(header) of \(said.header)")
    }

    /// 0x08 exactly where the gateway has dropped something, and all that is missing was dropped and counted.
    private func checkGap(before number: Int, _ header: FrameHeader) {
        var hasDropped = false
        while let first = line.handed[header.alias.value]?.first, first.frame != number {
            world.expect(first.isDropped, "\(self) misses frame \(first.frame), which was handed to it and not dropped")
            hasDropped = true
            line.handed[header.alias.value]?.removeFirst()
            if world.failure != nil { return }
        }
        guard let found = line.handed[header.alias.value]?.popFirst() else {
            return world.fail("\(self) hears frame \(number), which was not handed to it")
        }
        world.expect(!found.isDropped, "\(self) hears frame \(number), which was counted as dropped")
        // Of what is kept nothing is dropped on the way; what was refused at the door, all subscribers miss.
        if world.afterGap.contains(number) { hasDropped = true }
        let isMarked = header.flags.contains(.discontinuity)
        world.expect(
            isMarked == hasDropped,
            isMarked
                ? "\(self) hears frame \(number) with 0x08 and misses nothing" : "\(self) hears frame \(number) without 0x08 after a gap")
    }
}
