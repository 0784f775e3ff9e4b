import Sockets
import Wire

/// Sending frames: when its position in the grid is due, a prepared frame is copied, stamped and written.
extension Swarm {
    /// Frames later than this, in nanoseconds, are skipped instead of sent.
    private static let skipThreshold: UInt64 = 500_000_000

    /// Limits frames sent in one turn, so that a late generator still receives.
    static let framesPerTurnMax = 64
    /// Frames sent after each received message.
    static let framesPerReceiveMax = 4

    func sendDueFrames(_ now: UInt64, atMost limit: Int = Swarm.framesPerTurnMax) {
        guard phase < .draining else { return }
        if now > sendGrid.due, now &- sendGrid.due > Self.skipThreshold { tally.withheld += sendGrid.skip(to: now) }
        var remaining = limit
        while sendGrid.due <= now, remaining > 0 {
            remaining -= 1
            let call = sendGrid.position % scenario.calls
            let member = sendGrid.position / scenario.calls
            sendFrame(call, member, now: now)
            sendGrid.advance()
        }
    }

    private func sendFrame(_ index: Int, _ member: Int, now: UInt64) {
        let call = calls.baseAddress! + index
        guard call.pointee.phase == .talking || call.pointee.phase == .ending else { return }
        if member == 0 { endIfDue(index, now) }
        call.pointee.advance(to: sendGrid.round)
        let slot = slots.baseAddress! + index * scenario.membersPerCall + member
        let (talks, talksNext) = call.pointee.talks(member)
        var flags: FrameFlags = []
        if talks {
            if !slot.pointee.isTalking { flags.insert(.talkspurtStart) }
            if !talksNext { flags.insert(.talkspurtEnd) }
        } else if slot.pointee.isTalking {
            // Interrupted after its last frame was sent: one more frame ends the talkspurt.
            flags.insert(.talkspurtEnd)
        } else {
            return
        }
        guard send(slot, flags) else { return }
        slot.pointee.isTalking = !flags.contains(.talkspurtEnd)
        if member == 0, flags.contains(.talkspurtStart), call.pointee.now.isBargeIn { call.pointee.bargeInAt = clock }
    }

    /// - Returns: false if the socket is congested; the frame is dropped, as by a live source.
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

    /// Sends the application-level ping of each connection every 5 s, and aborts connections that hang.
    func sendDuePings(_ now: UInt64) {
        while pingGrid.due <= now {
            let slot = slots.baseAddress! + pingGrid.position
            pingGrid.advance()
            if slot.pointee.state == .ready, let connection = slot.pointee.connection { connection.write(text: Self.ping) }
            if slot.pointee.state == .leaving, now &- slot.pointee.leavingSince > 3_000_000_000 { slot.pointee.connection?.abort() }
            if slot.pointee.state == .connecting, now &- slot.pointee.connectStarted > 20_000_000_000 { slot.pointee.connection?.abort() }
        }
    }

    private static let ping = OutgoingRequest(.ping(0), id: 2).bytes
}
