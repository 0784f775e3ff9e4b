import Engine
import Sockets

/// Injected faults: subscribers that stop reading, and many connections that break at once.
extension Swarm {
    func injectFaults(_ now: UInt64) {
        pauseSlowSubscribers(now)
        if nextStorm <= now, phase == .measuring, let storm = scenario.reconnectStorm {
            nextStorm = now + UInt64(storm.everySeconds * 1e9)
            disconnectCalls(storm, now)
        }
    }

    private func pauseSlowSubscribers(_ now: UInt64) {
        while let first = pausedSlots.first, first.until <= now {
            pausedSlots.removeFirst()
            slots[first.slot].isPaused = false
            if slots[first.slot].state == .ready { slots[first.slot].connection?.setReading(true) }
        }
        guard var grid = pauseGrid, let slow = scenario.slowListeners else { return }
        while grid.due <= now {
            let slot = slots.baseAddress! + grid.position
            if slot.pointee.isSlow, slot.pointee.state == .ready, phase < .draining {
                slot.pointee.isPaused = true
                slot.pointee.connection?.setReading(false)
                pausedSlots.append((now + UInt64(slow.stopSeconds * 1e9), grid.position))
                tally.pauses += 1
            }
            grid.advance()
        }
        pauseGrid = grid
    }

    /// Aborts the connections of a share of all calls, as a restarting router does, and schedules their reconnection.
    private func disconnectCalls(_ storm: Scenario.ReconnectStorm, _ now: UInt64) {
        let hit = calls.indices.filter { calls[$0].phase == .talking && random.bool(probability: storm.share) }
        for (index, call) in hit.enumerated() {
            calls[call].phase = .disconnected
            calls[call].disconnectedAt = now
            total.callsDisconnected += 1
            for slot in members(of: call) { slots[slot].connection?.abort() }
            // At least one turn later, because libwebsockets closes the old connections first.
            let delay = 0.02 + storm.withinSeconds * Double(index) / Double(hit.count)
            reconnects.append((now + UInt64(delay * 1e9), call))
        }
    }
}
