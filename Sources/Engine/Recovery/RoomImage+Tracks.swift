internal import Wire

extension RoomImage {
    struct Track: Sendable, Hashable, Decodable {
        /// A talkspurt that has not ended.
        struct Talk: Sendable, Hashable, Decodable {
            var start: UInt32
            var age: UInt32
        }

        var info: TrackInfo
        var talk: Talk?
        /// The playout of an `ahead` track.
        var playout: Playout?
    }

    /// The playout of an `ahead` track, whose epoch is the track's. Times are the track's.
    struct Playout: Sendable, Hashable, Decodable {
        struct Utterance: Sendable, Hashable, Decodable {
            var first: UInt32
            /// Ticks since the first frame that were played, and that were released.
            var heard: Int32
            var released: Int32
            /// The same for what was received, if that is known to be more than was released.
            var received: Int32?
            /// The same for what is expected to have been played after `Limits.playoutUnseenMax`, if that is more than was heard.
            var later: Int32?
            /// A subscriber that reported the position; nil for an estimate.
            var reporter: Identity?
        }

        struct Mark: Sendable, Hashable, Decodable {
            var ts: UInt32
            var name: String
        }

        /// A clear that the publisher's shard has not completed.
        struct Clear: Sendable, Hashable, Decodable {
            var epoch: UInt8
            var by: Identity
            var reason: String?
            var heard: HeardPosition
            var first: UInt32?
            var end: UInt32?
            var furthest: UInt32?
            var marks: [Mark]
        }

        var utterance: Utterance?
        var furthest: UInt32?
        var clearedUpTo: UInt32?
        /// Subscribers that report their progress.
        var reporters: [Identity]
        var marks: [Mark]
        var clears: [Clear]
    }
}

extension RoomImage.Track {
    var isValid: Bool {
        info.alias.value > 0 && info.frameMs > 0 && (info.mode == .ahead) == (playout != nil) && playout?.isValid ?? true
    }

    init(_ track: Track, _ playout: Playout?, at now: Instant) {
        info = track.info
        talk = track.talk.current.map { Talk(start: $0.start.ticks, age: (now - $0.since).age) }
        self.playout = playout.map { RoomImage.Playout($0, at: now) }
    }
}

extension Track {
    init(restoring track: RoomImage.Track, by publisher: Participant, at now: Instant) {
        self.init(info: track.info, publisher: publisher.handle, publisherSID: publisher.stay.sid)
        if let talk = track.talk { self.talk = Talkspurt(from: MediaTime(ticks: talk.start), since: now.before(talk.age)) }
    }
}

extension RoomImage.Playout {
    fileprivate var isValid: Bool {
        let utterance = utterance.map { $0.heard >= 0 && $0.heard <= $0.released } ?? true
        let pending = clears.map(\.marks.count).reduce(marks.count, +)
        return utterance && clears.count <= Limits.clearsPendingMax && pending <= (Limits.clearsPendingMax + 1) * Limits.marksPendingMax
    }

    init(_ playout: Playout, at now: Instant) {
        utterance = playout.utterance.map { Utterance($0, of: playout, at: now) }
        furthest = playout.furthest?.ticks
        clearedUpTo = playout.clearedUpTo?.ticks
        reporters = playout.reporters
        marks = playout.marks.map(Mark.init)
        clears = playout.clears.map(Clear.init)
    }
}

extension RoomImage.Playout.Utterance {
    fileprivate init(_ utterance: Utterance, of playout: Playout, at now: Instant) {
        let heard = utterance.heard(at: now)
        let released = max(utterance.clock.release(at: now), heard)
        let received = playout.received.map(utterance.offset) ?? 0
        let later = min(utterance.heard(at: now + Limits.playoutUnseenMax), max(released, received))
        self.init(
            first: utterance.first.ticks, heard: Int32(clamping: heard), released: Int32(clamping: released),
            received: received > released ? Int32(clamping: received) : nil, later: later > heard ? Int32(clamping: later) : nil,
            reporter: utterance.isEstimated ? nil : playout.reporters.first)
    }

    /// Ticks played when the node was lost.
    ///
    /// - Parameter unseen: the time since the image.
    fileprivate func heard(after unseen: Duration) -> Int {
        let ticks = min(max(unseen, .zero), Limits.playoutUnseenMax).inTicks
        return max(Int(heard), min(Int(heard) + ticks, Int(later ?? heard)))
    }
}

extension RoomImage.Playout.Mark {
    fileprivate init(_ mark: Playout.Mark) {
        (ts, name) = (mark.time.ticks, mark.name)
    }
}

extension RoomImage.Playout.Clear {
    fileprivate init(_ clear: Playout.Clear) {
        self.init(
            epoch: clear.epoch, by: clear.by, reason: clear.reason, heard: clear.heard, first: clear.first?.ticks, end: clear.end?.ticks,
            furthest: clear.furthest?.ticks, marks: clear.marks.map(RoomImage.Playout.Mark.init))
    }
}

extension Playout {
    /// The playout of a track whose queue is lost: an utterance in progress stands still until it is cleared.
    ///
    /// - Parameters:
    ///   - publisher: stands for those who cleared the track. Their requests are lost with their connections.
    ///   - unseen: the time for which playout went on after the image.
    init(
        restoring playout: RoomImage.Playout, epoch: UInt8, by publisher: ParticipantHandle, after unseen: Duration, at now: Instant
    ) {
        self.init(epoch: epoch, reporters: playout.reporters, at: now)
        utterance = playout.utterance.map {
            let heard = $0.heard(after: unseen)
            return Utterance(
                first: MediaTime(ticks: $0.first), heard: heard, by: $0.reporter, end: max(heard, Int($0.released)), at: now)
        }
        received = playout.utterance.flatMap { image in image.received.map { MediaTime(ticks: image.first).advanced(by: Int($0)) } }
        furthest = playout.furthest.map(MediaTime.init(ticks:))
        clearedUpTo = playout.clearedUpTo.map(MediaTime.init(ticks:))
        marks = playout.marks.map { Mark($0, at: now) }
        let requester = Requester(handle: publisher, id: nil)
        clears = playout.clears.map { clear in
            Clear(
                epoch: clear.epoch, requester: requester, by: clear.by, reason: clear.reason, heard: clear.heard,
                first: clear.first.map(MediaTime.init(ticks:)), end: clear.end.map(MediaTime.init(ticks:)),
                furthest: clear.furthest.map(MediaTime.init(ticks:)), marks: clear.marks.map { Mark($0, at: now) })
        }
    }
}

extension Playout.Mark {
    fileprivate init(_ mark: RoomImage.Playout.Mark, at now: Instant) {
        self.init(time: MediaTime(ticks: mark.ts), name: mark.name, since: now)
    }
}
