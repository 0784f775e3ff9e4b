import Sockets
import Wire

/// The way of a frame in: is it the one that was sent, in its order, and how long did it take?
extension Swarm {
    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
        let now = clock
        guard let slot = slot(of: connection) else { return }
        if message.first == FrameKind.bundle.rawValue {
            hearBundle(message, slot, now)
        } else {
            hear(message, slot, now)
        }
        if sendGrid.due <= now { sendWhatIsDue(now, atMost: Self.framesBetween) }
    }

    /// `u8 0x42, u8 count, count × (u16 length, one whole frame)`.
    private func hearBundle(_ message: UnsafeRawBufferPointer, _ slot: UnsafeMutablePointer<Slot>, _ now: UInt64) {
        var at = 2
        while at + 2 <= message.count {
            let length = Int(message[at]) << 8 | Int(message[at + 1])
            guard at + 2 + length <= message.count else { break }
            hear(UnsafeRawBufferPointer(rebasing: message[at + 2..<at + 2 + length]), slot, now)
            at += 2 + length
        }
        if at != message.count { tally.corrupt += 1 }
    }

    private func hear(_ frame: UnsafeRawBufferPointer, _ slot: UnsafeMutablePointer<Slot>, _ now: UInt64) {
        let call = calls.baseAddress! + slot.pointee.call
        guard slot.pointee.hears >= 0, call.pointee.phase == .talking || call.pointee.phase == .ending else { return }
        let publisher = slots.baseAddress! + slot.pointee.hears
        guard frame.count >= FrameStamp.leastFrameBytes, let base = frame.baseAddress, frame[0] == FrameKind.audio.rawValue else {
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
        let arrival = measured(slot.pointee.reception.take(stamp.sequence), stamp.sequence, publisher.pointee.measuredFrom)
        let age = now &- stamp.time
        if slot.pointee.isSlow {
            countSlow(arrival, age)
        } else {
            count(arrival)
            timeline.latency.record(nanoseconds: age)
            // What was sent before measuring began belongs to the warm-up.
            if stamp.time >= measuredFrom, arrival != .repeated {
                tally.received += 1
                tally.latency.record(nanoseconds: age)
            }
        }
        if call.pointee.brokeInAt != 0 { noteBargeIn(call, member: slot.pointee.member, header.flags, now) }
    }

    /// An arrival without what had been sent before measuring began.
    private func measured(_ arrival: Reception.Arrival, _ sequence: UInt32, _ first: UInt32) -> Reception.Arrival {
        switch arrival {
        case .inOrder, .repeated: arrival
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
        case .repeated: tally.repeated += 1
        }
    }

    private func countSlow(_ arrival: Reception.Arrival, _ age: UInt64) {
        tally.slowReceived += 1
        if case .after(let gap) = arrival { tally.slowLost += gap }
        if arrival == .late { tally.slowLost -= 1 }
        tally.slowLatency.record(nanoseconds: age)
    }

    /// The assistant hears that it is interrupted and gives way; the user hears its last frame.
    private func noteBargeIn(_ call: UnsafeMutablePointer<Call>, member: Int, _ flags: FrameFlags, _ now: UInt64) {
        if member == 1, flags.contains(.talkspurtStart) {
            call.pointee.assistantYields()
        } else if member == 0, flags.contains(.talkspurtEnd) {
            tally.bargeIn.record(nanoseconds: now &- call.pointee.brokeInAt)
            call.pointee.brokeInAt = 0
        }
    }
}
