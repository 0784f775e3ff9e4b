internal import Wire

extension RoomSettings {
    /// The settings of a room that comes from another gateway.
    init(_ image: RoomImage, over base: RoomSettings) {
        self = base
        emptyTimeout = .milliseconds(image.settings.emptyTimeoutMs)
        departureTimeout = .milliseconds(image.settings.departureTimeoutMs)
        maxParticipants = image.room.maxParticipants
        metadata = image.room.metadata
        agents = image.settings.agents
    }
}

/// The consequences of a restore.
extension Room {
    /// Reports what was lost with the room's earlier node. Pending procedure calls end without a reply, because their callers have
    /// lost their connections.
    mutating func reportLoss() {
        guard case .restored(let reason) = phase else { return }
        phase = .open
        // A node that is lost may not have stored the latest ones. The store ignores what it has.
        if reason == .nodeLost { for segment in transcript.recorded(since: now.before(Self.unstoredMax)) { recordTranscript(segment) } }
        stopRecording(nil, .failed)
        for index in 0..<tracks.count where tracks[at: index].info.mode == .live { interruptTalk(at: index, .silence) }
        for sid in tracks.playouts.keys { clear(sid, because: reason) }
        sendSpeakerChanges()
        if members.independentCount > 0 { reportAttendance(true) }
        for participant in members.participants { report(.away, of: participant) }
    }

    /// Age of the oldest segments that a lost node may not have stored, in milliseconds.
    private static var unstoredMax: UInt32 { 30_000 }

    /// Clears an `ahead` track whose queue is lost. Its pending clears are completed here, because no queue reports their end.
    private mutating func clear(_ sid: TrackSID, because reason: RestoreReason) {
        // Marks that had been reached count as played.
        changePlayout(of: sid) { [now] playout, outcomes in playout.processDue(at: now, into: &outcomes) }
        guard let track = tracks.index(of: sid), let playout = tracks.playouts.index(of: sid) else { return }
        let requester = Requester(handle: tracks[at: track].publisher, id: nil)
        // Leaves one epoch out: the earlier node may have completed a clear after its last image, and clients that know its epoch would
        // take this clear for that one.
        tracks.playouts[at: playout].epoch &+= 1
        tracks.playouts[at: playout].clear(by: Identity(text: ""), requester: requester, reason: reason.rawValue, at: now)
        let epoch = tracks.playouts[at: playout].epoch
        tracks[at: track].info.epoch = epoch
        for clear in tracks.playouts[at: playout].completeClears(upTo: epoch, end: nil) { finish(clear, of: sid) }
    }

    /// Publishes the tracks of a participant that resumes for the first time since a restore: this node's patch panels know nothing of them.
    mutating func publishAgain(_ participant: Participant) {
        for track in participant.tracks.compactMap({ tracks[$0] }) {
            patch(.publish(track.info, by: participant.handle))
            let gate = track.gate(by: participant)
            if gate != .open { patch(.gate(track.info.alias, by: participant.handle, gate)) }
            tap(track)
            keepSpeechAgain(of: track)
            for subscriber in members.participants where subscriber.isSubscribed(to: track) { subscribe(subscriber.handle, to: track) }
        }
    }
}
