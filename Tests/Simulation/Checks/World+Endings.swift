internal import Engine
internal import Wire

/// Final checks: liveness after recovery, and no remaining state after all peers have left.
extension World {
    /// Every frame of the liveness phase has reached every permitted subscriber, and every request has been answered.
    func checkLiveness() {
        let settled = peers.compactMap(\.session).filter { $0.hello != nil && !$0.isOver }
        // A session that joined later may still be waiting for a reply.
        for session in settled where session.joinedAt <= livenessSince + Self.talkingSpan {
            let unanswered = session.pendingRequests.keys.sorted()
            expect(unanswered.isEmpty, "\(session) has no answer to \(unanswered)")
        }
        // A room with agents only may have closed by now; its participants reconnect.
        for (number, frame) in ledger.frames.enumerated() where frame.mustBeDelivered && !frame.session.isOver {
            for session in settled
            where session.peer.room == frame.session.peer.room && session !== frame.session && session.permission.canSubscribe {
                guard session.joinedAt <= livenessSince else { continue }
                expect(
                    session.receivedRequired.contains(number),
                    "\(session) has not received frame \(number) of \(frame.session) in the liveness phase")
            }
        }
        expect(counts.framesIn == counts.admitted + counts.rejected.reduce(0, +), "incoming frames are not all counted: \(counts)")
    }

    func checkNothingRemains() {
        for shard in shards {
            let name = "shard \(shard.index)"
            expect(shard.participantsAway == 0, "\(name) still counts \(shard.participantsAway) lost connections")
            expect(shard.participants == 0, "\(name) still counts \(shard.participants) participants")
            expect(shard.slots.allSatisfy { $0 == nil }, "\(name) still has occupied slots")
            expect(
                shard.freeSlots.count == shard.slots.count, "\(name) has freed \(shard.freeSlots.count) of \(shard.slots.count) slots"
            )
            expect(shard.rooms.allSatisfy { $0 == nil } && shard.roomByName.isEmpty, "\(name) still has rooms: \(shard.roomByName.keys)")
            expect(shard.guests.isEmpty, "\(name) still has \(shard.guests.count) guests")
            expect(shard.panel.count == 0 && shard.panel.patches.allSatisfy(\.isEmpty), "\(name) still has patches")
            expect(shard.aheads.count == 0 && shard.aheads.active.isEmpty, "\(name) still has \(shard.aheads.count) `ahead` tracks")
            expect(shard.earlier.count == 0, "\(name) still keeps speech of \(shard.earlier.count) tracks")
            expect(shard.playoutQueueReports.isEmpty, "\(name) has unsent playout reports")
            expect(shard.remoteTracks.count == 0, "\(name) still has \(shard.remoteTracks.count) remote tracks")
            expect(shard.store.heldCount == 0, "\(name) still stores \(shard.store.heldCount) frames")
            expect(shard.waiting.isEmpty, "\(name) still has waiting participants")
            expect(shard.arrivals.allSatisfy(\.isEmpty), "\(name) has frames that were not forwarded")
        }
        expect(administrativeCalls.pending.isEmpty, "calls \(administrativeCalls.pending.sorted()) of administrators have no outcome")
        expect(mailboxes.allSatisfy { $0.count == 0 }, "a mailbox is not empty")
        expect(trunks.allSatisfy(\.isEmpty), "a trunk is not empty")
        expect(directory.isEmpty, "the directory still has rooms")
        expect(counts.handed == counts.written + counts.dropped.reduce(0, +), "forwarded frames are not all counted: \(counts)")
        expect(counts.received <= counts.written, "more frames were received than written: \(counts)")
    }
}
