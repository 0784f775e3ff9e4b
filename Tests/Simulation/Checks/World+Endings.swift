internal import Engine
internal import Wire

/// What must hold when faults are long over, and when everybody has gone.
extension World {
    /// All who may talk have been heard by all who may hear, and whoever asked has an answer.
    func checkEverybodyWasHeard() {
        let settled = peers.compactMap(\.stay).filter { $0.hello != nil && !$0.isOver }
        for stay in settled {
            let unanswered = stay.asked.keys.sorted()
            expect(unanswered.isEmpty, "\(stay) has no answer to \(unanswered)")
        }
        // A room of nobody but agents may be over by now, and those who were in it come again.
        for (number, frame) in ledger.frames.enumerated() where frame.mustBeHeard && !frame.stay.isOver {
            for stay in settled where stay.peer.room == frame.stay.peer.room && stay !== frame.stay && stay.permission.canSubscribe {
                guard stay.welcomedAt <= audibleSince else { continue }
                expect(stay.mustHaveHeard.contains(number), "\(stay) has not heard frame \(number) of \(frame.stay), though all was well")
            }
        }
        expect(tally.framesIn == tally.admitted + tally.refused.reduce(0, +), "frames that came: \(tally)")
    }

    func checkNothingIsLeft() {
        for shard in shards {
            let place = "shard \(shard.index)"
            expect(shard.participantsAway == 0, "\(place) still counts \(shard.participantsAway) who are away")
            expect(shard.participants == 0, "\(place) still counts \(shard.participants) participants")
            expect(shard.slots.allSatisfy { $0 == nil }, "somebody still sits on \(place)")
            expect(
                shard.freeSlots.count == shard.slots.count, "\(place) has given back \(shard.freeSlots.count) of \(shard.slots.count) seats"
            )
            expect(shard.rooms.allSatisfy { $0 == nil } && shard.roomByName.isEmpty, "\(place) still has rooms: \(shard.roomByName.keys)")
            expect(shard.guests.isEmpty, "\(place) still has \(shard.guests.count) guests")
            expect(shard.panel.count == 0 && shard.panel.patches.allSatisfy(\.isEmpty), "\(place) still has patches")
            expect(shard.aheads.count == 0 && shard.aheads.active.isEmpty, "\(place) still has \(shard.aheads.count) tracks ahead")
            expect(shard.playoutQueueReports.isEmpty, "\(place) has not told all it knows of what was heard")
            expect(shard.remoteTracks.count == 0, "\(place) still has \(shard.remoteTracks.count) inlets")
            expect(shard.store.heldCount == 0, "\(place) still holds \(shard.store.heldCount) frames")
            expect(shard.waiting.isEmpty, "\(place) still waits for somebody")
            expect(shard.arrivals.allSatisfy(\.isEmpty), "\(place) has frames that it has not carried")
        }
        expect(mailboxes.allSatisfy { $0.count == 0 }, "mail was not read")
        expect(trunks.allSatisfy(\.isEmpty), "frames are left in a trunk")
        expect(directory.isEmpty, "the directory still has rooms")
        expect(tally.handed == tally.written + tally.dropped.reduce(0, +), "frames that were handed out: \(tally)")
        expect(tally.heard <= tally.written, "more was heard than was written: \(tally)")
    }
}
