import Sockets
import Wire

/// Receiving frames: checks content and order, and measures latency.
extension Swarm {
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
        let now = clock
        guard let slot = slot(of: connection) else { return }
        if message.first == FrameKind.bundle.rawValue {
            receiveBundle(message, slot, now)
        } else {
            receiveFrame(message, slot, now)
        }
        if sendGrid.due <= now { sendDueFrames(now, atMost: Self.framesPerReceiveMax) }
    }

    /// Layout: `u8 0x42, u8 count, count × (u16 length, frame)`.
    private func receiveBundle(_ message: UnsafeRawBufferPointer, _ slot: UnsafeMutablePointer<Slot>, _ now: UInt64) {
        var at = 2
        while at + 2 <= message.count {
            let length = Int(message[at]) << 8 | Int(message[at + 1])
            guard at + 2 + length <= message.count else { break }
            receiveFrame(UnsafeRawBufferPointer(rebasing: message[at + 2..<at + 2 + length]), slot, now)
            at += 2 + length
        }
        if at != message.count { tally.corrupt += 1 }
    }

    private func receiveFrame(_ frame: UnsafeRawBufferPointer, _ slot: UnsafeMutablePointer<Slot>, _ now: UInt64) {
        let call = calls.baseAddress! + slot.pointee.call
        guard slot.pointee.subscribesTo >= 0, call.pointee.phase == .talking || call.pointee.phase == .ending else { return }
        let publisher = slots.baseAddress! + slot.pointee.subscribesTo
        guard frame.count >= FrameStamp.frameBytesMin, let base = frame.baseAddress, frame[0] == FrameKind.audio.rawValue else {
            tally.corrupt += 1
            return
        }
        let header = FrameHeader(unchecked: base)
        let stamp = FrameStamp(reading: base)
        guard
            header.alias.value == publisher.pointee.alias, stamp.track == publisher.pointee.track,
            header.sequence.value == UInt16(truncatingIfNeeded: stamp.sequence)
        else {
            tally.corrupt += 1
            return
        }
        if header.flags.contains(.discontinuity) { tally.flagged += 1 }
        let arrival = measured(slot.pointee.reception.record(stamp.sequence), stamp.sequence, publisher.pointee.measuredFrom)
        let age = now &- stamp.time
        if slot.pointee.isSlow {
            countSlow(arrival, age)
        } else {
            count(arrival)
            timeline.latency.record(nanoseconds: age)
            // Frames sent before measuring began belong to the warm-up.
            if stamp.time >= measuredFrom, arrival != .duplicate {
                tally.received += 1
                tally.latency.record(nanoseconds: age)
            }
        }
        if call.pointee.bargeInAt != 0 { measureBargeIn(call, member: slot.pointee.member, header.flags, now) }
    }

    /// Removes from an arrival what was sent before measuring began.
    private func measured(_ arrival: Reception.Arrival, _ sequence: UInt32, _ first: UInt32) -> Reception.Arrival {
        switch arrival {
        case .inOrder, .duplicate: arrival
        case .after(let gap): .after(gap: Reception.part(of: gap, before: sequence, since: first))
        case .late: Int32(bitPattern: sequence &- first) < 0 ? .inOrder : .late
        }
    }

    private func count(_ arrival: Reception.Arrival) {
        switch arrival {
        case .inOrder: break
        case .after(let gap): tally.lost += gap
        case .late:
            tally.late += 1
            tally.lost -= 1
        case .duplicate: tally.duplicates += 1
        }
    }

    private func countSlow(_ arrival: Reception.Arrival, _ age: UInt64) {
        tally.slowReceived += 1
        if case .after(let gap) = arrival { tally.slowLost += gap }
        if arrival == .late { tally.slowLost -= 1 }
        tally.slowLatency.record(nanoseconds: age)
    }

    /// The interruption takes effect when it reaches the assistant, and is measured when the assistant's last frame reaches the user.
    private func measureBargeIn(_ call: UnsafeMutablePointer<Call>, member: Int, _ flags: FrameFlags, _ now: UInt64) {
        if member == 1, flags.contains(.talkspurtStart) {
            call.pointee.assistantYields()
        } else if member == 0, flags.contains(.talkspurtEnd) {
            tally.bargeIn.record(nanoseconds: now &- call.pointee.bargeInAt)
            call.pointee.bargeInAt = 0
        }
    }
}
