import Engine
import Sockets

/// What goes wrong on purpose: listeners that stop reading, and many connections that break at once.
extension Swarm {
    func makeTrouble(_ now: UInt64) {
        stopListeners(now)
        if nextStorm <= now, phase == .measuring, let storm = scenario.reconnectStorm {
            nextStorm = now + UInt64(storm.everySeconds * 1e9)
            cutCalls(storm, now)
        }
    }

    private func stopListeners(_ now: UInt64) {
        while let first = stopped.first, first.until <= now {
            stopped.removeFirst()
            slots[first.slot].isStopped = false
            if slots[first.slot].state == .ready { slots[first.slot].connection?.setReading(true) }
        }
        guard var grid = stopGrid, let slow = scenario.slowListeners else { return }
        while grid.due <= now {
            let slot = slots.baseAddress! + grid.place
            if slot.pointee.isSlow, slot.pointee.state == .ready, phase < .draining {
                slot.pointee.isStopped = true
                slot.pointee.connection?.setReading(false)
                stopped.append((now + UInt64(slow.stopSeconds * 1e9), grid.place))
                tally.stops += 1
            }
            grid.advance()
        }
        stopGrid = grid
    }

    /// Breaks a share of all calls off without a word, as a router that restarts does, and has them come back.
    private func cutCalls(_ storm: Scenario.ReconnectStorm, _ now: UInt64) {
        let hit = calls.indices.filter { calls[$0].phase == .talking && chance.chance(storm.share) }
        for (place, call) in hit.enumerated() {
            calls[call].phase = .cut
            calls[call].cutAt = now
            total.callsCut += 1
            for slot in members(of: call) { slots[slot].connection?.abort() }
            // Not in this very turn: lws ends the old connections first.
            let delay = 0.02 + storm.withinSeconds * Double(place) / Double(hit.count)
            comingBack.append((now + UInt64(delay * 1e9), call))
        }
    }
}
