import Sockets
import Wire

/// The way of a frame out: when its place in the grid is due, a prepared one is copied, patched and written.
extension Swarm {
    /// Later than this is not made up for: a generator that stood still for so long has lost its place.
    private static let hopelesslyLate: UInt64 = 500_000_000

    /// One who catches up must not stop listening meanwhile.
    static let framesInARow = 64
    /// Between two messages that come in.
    static let framesBetween = 4

    func sendWhatIsDue(_ now: UInt64, atMost most: Int = Swarm.framesInARow) {
        guard phase < .draining else { return }
        if now > sendGrid.due, now &- sendGrid.due > Self.hopelesslyLate { tally.withheld += sendGrid.skip(to: now) }
        var left = most
        while sendGrid.due <= now, left > 0 {
            left -= 1
            let call = sendGrid.place % scenario.calls
            let member = sendGrid.place / scenario.calls
            speak(call, member, now: now)
            sendGrid.advance()
        }
    }

    private func speak(_ index: Int, _ member: Int, now: UInt64) {
        let call = calls.baseAddress! + index
        guard call.pointee.phase == .talking || call.pointee.phase == .ending else { return }
        if member == 0 { endIfTimeHasCome(index, now) }
        call.pointee.advance(to: sendGrid.round)
        let slot = slots.baseAddress! + index * scenario.membersPerCall + member
        let (talks, talksNext) = call.pointee.talks(member)
        var flags: FrameFlags = []
        if talks {
            if !slot.pointee.isTalking { flags.insert(.talkspurtStart) }
            if !talksNext { flags.insert(.talkspurtEnd) }
        } else if slot.pointee.isTalking {
            // It was silenced after its frame had gone: one more says that it is over.
            flags.insert(.talkspurtEnd)
        } else {
            return
        }
        guard send(slot, flags) else { return }
        slot.pointee.isTalking = !flags.contains(.talkspurtEnd)
        if member == 0, flags.contains(.talkspurtStart), call.pointee.now.isBargeIn { call.pointee.brokeInAt = clock }
    }

    /// - Returns: false if the socket takes nothing now; the frame is given up, as a live source would.
    private func send(_ slot: UnsafeMutablePointer<Slot>, _ flags: FrameFlags) -> Bool {
        guard let connection = slot.pointee.connection, !connection.isCongested else {
            tally.withheld += 1
            return false
        }
        let frame = speech.frame(Int(slot.pointee.sequence &+ slot.pointee.track &* 7))
        let start = staging + Connection.headroom
        start.copyMemory(from: frame.baseAddress!, byteCount: frame.count)
        let now = clock
        let stamp = FrameStamp(time: now, track: slot.pointee.track, sequence: slot.pointee.sequence)
        stamp.write(
            to: start, flags: flags, alias: slot.pointee.alias,
            timestamp: UInt32(truncatingIfNeeded: sendGrid.round) &* SpeechPackets.ticksPerFrame &- 48_000 * 6)
        guard connection.write(binary: start, count: frame.count) else { return false }
        slot.pointee.sequence &+= 1
        tally.sent += 1
        tally.expected += scenario.membersPerCall - 1
        tally.lateness.record(nanoseconds: now &- sendGrid.due)
        return true
    }

    /// A client's own sign of life, every 5 s on each connection.
    func pingWhoIsDue(_ now: UInt64) {
        while pingGrid.due <= now {
            let slot = slots.baseAddress! + pingGrid.place
            pingGrid.advance()
            if slot.pointee.state == .ready, let connection = slot.pointee.connection { connection.write(text: Self.ping) }
            // Who has been asked to close and does not.
            if slot.pointee.state == .leaving, now &- slot.pointee.leavingSince > 3_000_000_000 { slot.pointee.connection?.abort() }
            if slot.pointee.state == .connecting, now &- slot.pointee.connectStarted > 20_000_000_000 { slot.pointee.connection?.abort() }
        }
    }

    private static let ping = OutgoingRequest(.ping(0), id: 2).bytes
}
