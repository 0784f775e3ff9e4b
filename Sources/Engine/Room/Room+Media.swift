package import Wire

extension Room {
    /// Publishes a track. Subscriptions follow the event that announces it, and the reply comes last, so that frames sent at once
    /// reach all subscribers.
    mutating func publish(
        _ description: PublishTrack, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let participant = roster[at: index]
        try description.check()
        guard !participant.isHidden else { throw RequestError(.notAllowed, "a hidden participant cannot publish") }
        guard participant.permission.allows(description.source) else {
            throw RequestError(.notAllowed, "the token does not allow to publish a track of source \(description.source.rawValue)")
        }
        guard participant.tracks.count < Limits.tracksPerParticipantMax else {
            throw RequestError(.limitExceeded, "\(Limits.tracksPerParticipantMax) tracks are published already; unpublish one first")
        }
        guard let alias = aliases.allocate() else {
            throw RequestError(.limitExceeded, "the room has no track alias left; try again later", retryable: true)
        }
        let info = TrackInfo(sid: identifiers.track(), alias: alias, participant: participant.identity, description: description)
        let track = Track(info: info, publisher: participant.handle, publisherSID: participant.sid)
        tracks.append(track, for: info.sid)
        roster[at: index].tracks.append(info.sid)
        if info.mode == .ahead { playouts.append(Playout(epoch: info.epoch, at: now), for: info.sid) }
        speakers.add(info.sid, of: participant.identity, at: now)

        patch(.publish(info, by: participant.handle), into: &effects)
        let gate = track.gate(by: participant)
        if gate != .open { patch(.gate(alias, by: participant.handle, gate), into: &effects) }
        send(.trackPublished(info), to: everyone(but: participant.handle), into: &effects)
        for subscriber in roster.values where subscriber.isSubscribed(to: track) {
            subscribe(subscriber.handle, to: track, into: &effects)
        }
        reply(.published(info), to: requester, into: &effects)
        tap(track, into: &effects)
        tell(.published(info, by: participant.sid), into: &effects)
        watchSilence(ofParticipantAt: index, at: now)
    }

    mutating func unpublish(_ sid: TrackSID, by requester: Requester, now: Instant, into effects: inout [Effect]) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher == requester.handle else { throw RequestError(.notAllowed, "the track is somebody else's") }
        untap(track, into: &effects)
        patch(.unpublish(track.info.alias, by: requester.handle), into: &effects)
        reply(to: requester, into: &effects)
        removeTrack(sid, at: now, into: &effects)
        sendSpeakerChanges(at: now, into: &effects)
    }

    /// Removes a track whose patch is gone already, and notifies everybody. Subscriptions ended with the patch.
    mutating func removeTrack(_ sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        endPlayout(of: sid, at: now, into: &effects)
        guard let index = tracks.index(of: sid) else { return }
        interruptTalk(at: index, .left, now: now, into: &effects)
        guard let track = tracks.remove(sid) else { return }
        aliases.release(track.info.alias)
        speakers.remove(sid)
        for index in 0..<roster.count where roster[at: index].subscriptionOverrides[sid] != nil { roster[at: index].subscriptionOverrides[sid] = nil }
        if let publisher = roster.index(of: track.publisher) {
            roster[at: publisher].tracks.removeAll { $0 == sid }
            watchSilence(ofParticipantAt: publisher, at: now)
        }
        send(.trackUnpublished(sid, of: track.info.participant), to: everyone, into: &effects)
        tell(.unpublished(track.info, by: track.publisherSID), into: &effects)
        playoutEnded(ofAgent: track.publisher, into: &effects)
    }
}

extension RequestError {
    static let noSuchTrack = RequestError(.notFound, "no such track in the room; it may have been unpublished")
}

extension Room {
    /// Stores a subscription even while it cannot take effect (on hold). Unsubscribing needs no grant.
    mutating func subscribe(
        _ requester: Requester, at index: Int, to sid: TrackSID, _ subscribed: Bool, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher != requester.handle else {
            throw RequestError(.invalidArgument, "nobody is sent a track of its own")
        }
        guard roster[at: index].permission.canSubscribe || !subscribed else {
            throw RequestError(.notAllowed, "the token does not allow to subscribe")
        }
        // The reply comes first: no frame may overtake it.
        reply(to: requester, into: &effects)
        updateSubscriptions(index, at: now, into: &effects) { $0.subscriptionOverrides[sid] = subscribed }
    }

    /// - Parameter from: media time at which to continue an `ahead` track; nil for the current position.
    mutating func subscribe(_ subscriber: ParticipantHandle, to track: Track, from: MediaTime? = nil, into effects: inout [Effect]) {
        subscriptionCount &+= 1
        let (mode, epoch, frameMs) = (track.info.mode, track.info.epoch, track.info.frameMs)
        let options = SubscriptionOptions(mode: mode, epoch: epoch, from: from, frameMilliseconds: frameMs, number: subscriptionCount)
        patch(.subscribe(subscriber, to: track.info.alias, of: track.publisher, options), into: &effects)
    }

    /// Applies a change to a participant and patches the subscriptions that differ afterwards.
    mutating func updateSubscriptions(_ index: Int, at now: Instant, into effects: inout [Effect], by change: (inout Participant) -> Void) {
        let before = roster[at: index]
        change(&roster[at: index])
        let after = roster[at: index]
        for track in tracks.values {
            switch (before.isSubscribed(to: track), after.isSubscribed(to: track)) {
            case (false, true):
                subscribe(after.handle, to: track, into: &effects)
            case (true, false):
                patch(.unsubscribe(after.handle, to: track.info.alias, of: track.publisher), into: &effects)
                forgetProgress(of: after.identity, on: track.info.sid, at: now, into: &effects)
            default: break
            }
        }
    }
}

extension Room {
    mutating func mute(
        _ sid: TrackSID, _ muted: Bool, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        if track.publisher != requester.handle {
            guard roster[at: index].isRoomAdmin else {
                throw RequestError(.notAllowed, "only a room admin may mute somebody else's track")
            }
            // As in LiveKit: nobody else can unmute a microphone.
            guard muted else { throw RequestError(.notAllowed, "remote unmute not enabled") }
        }
        setMuted(muted, sid, answering: requester, at: now, into: &effects)
    }

    /// Mutes or unmutes a track. If nothing changes, only the request is answered.
    mutating func setMuted(
        _ muted: Bool, _ sid: TrackSID, answering requester: Requester? = nil, at now: Instant, into effects: inout [Effect]
    ) {
        guard let index = tracks.index(of: sid), let publisher = roster.index(of: tracks[at: index].publisher) else { return }
        let before = tracks[at: index]
        let gate = before.gate(by: roster[at: publisher])
        tracks[at: index].info.muted = muted
        if before.info.muted != muted { updateGate(sid, ofParticipantAt: publisher, from: gate, into: &effects) }
        if let requester { reply(to: requester, into: &effects) }
        guard before.info.muted != muted else { return }
        if muted { stopTalk(at: index, now: now, into: &effects) }
        let identity = before.info.participant
        send(muted ? .trackMuted(sid, of: identity) : .trackUnmuted(sid, of: identity), to: everyone, into: &effects)
        if muted { sendSpeakerChanges(at: now, into: &effects) }
        watchSilence(ofParticipantAt: publisher, at: now)
    }

    /// Patches the gate of a track if it differs from before.
    func updateGate(_ sid: TrackSID, ofParticipantAt publisher: Int, from before: Gate, into effects: inout [Effect]) {
        guard let track = tracks[sid] else { return }
        let gate = track.gate(by: roster[at: publisher])
        guard gate != before else { return }
        patch(.gate(track.info.alias, by: track.publisher, gate), into: &effects)
    }

    /// Mutes all current and future tracks of a participant, or reverts that. Tracks keep their own mute state.
    mutating func silence(_ silenced: Bool, ofParticipantAt index: Int, at now: Instant, into effects: inout [Effect]) {
        let before = roster[at: index]
        guard before.isMutedByAdmin != silenced else { return }
        roster[at: index].isMutedByAdmin = silenced
        for track in before.tracks.compactMap({ tracks[$0] }) {
            updateGate(track.info.sid, ofParticipantAt: index, from: track.gate(by: before), into: &effects)
            if silenced, let index = tracks.index(of: track.info.sid) { stopTalk(at: index, now: now, into: &effects) }
        }
        send(silenced ? .callMuted(by: before.identity) : .callUnmuted(by: before.identity), to: audience(of: before), into: &effects)
        if silenced { sendSpeakerChanges(at: now, into: &effects) }
        watchSilence(ofParticipantAt: index, at: now)
    }

    /// Ends talk and speaker state of a track that was muted or held.
    mutating func stopTalk(at index: Int, now: Instant, into effects: inout [Effect]) {
        interruptTalk(at: index, .muted, now: now, into: &effects)
        let sid = tracks[at: index].info.sid
        speakers.resetLevel(of: sid)
        if let playout = playouts.index(of: sid) { playouts[at: playout].pause(at: now) }
    }
}

extension Room {
    /// Puts a participant on hold or resumes it. On hold it neither sends nor receives media; mutes and subscriptions are kept.
    ///
    /// - Parameter requester: nil if the command came from outside the room.
    mutating func hold(_ held: Bool, by requester: Requester?, at index: Int, now: Instant, into effects: inout [Effect]) {
        let before = roster[at: index]
        guard before.isHeld != held else {
            if let requester { reply(to: requester, into: &effects) }
            return
        }
        updateSubscriptions(index, at: now, into: &effects) { $0.isHeld = held }
        for sid in before.tracks {
            if let track = tracks[sid] { updateGate(sid, ofParticipantAt: index, from: track.gate(by: before), into: &effects) }
        }
        if let requester { reply(to: requester, into: &effects) }
        if held {
            for sid in before.tracks {
                if let track = tracks.index(of: sid) { stopTalk(at: track, now: now, into: &effects) }
            }
        }
        send(held ? .callHeld(by: before.identity) : .callResumed(by: before.identity), to: audience(of: before), into: &effects)
        tell(.held(before.identity, held), into: &effects)
        if held { sendSpeakerChanges(at: now, into: &effects) }
        watchSilence(ofParticipantAt: index, at: now)
    }
}

extension Room {
    mutating func beginTalk(on sid: TrackSID, at start: MediaTime, now: Instant, into effects: inout [Effect]) {
        // A muted or held track does not talk, even if its meter still reports it.
        guard let index = tracks.index(of: sid), isOpen(tracks[at: index]) else { return }
        guard tracks[at: index].talk.begin(at: start, now: now) else { return }
        // An `ahead` track is metered before it plays; its queue reports the playout time.
        if tracks[at: index].info.mode == .live { tracks[at: index].anchor = (start, now) }
        send(.talkStarted(tracks[at: index].info.participant, sid, at: start), to: everyone, into: &effects)
    }

    mutating func endTalk(on sid: TrackSID, at end: MediaTime, _ reason: TalkEnd, into effects: inout [Effect]) {
        guard let index = tracks.index(of: sid), let end = tracks[at: index].talk.end(at: end) else { return }
        send(.talkStopped(tracks[at: index].info.participant, sid, at: end, reason: reason), to: everyone, into: &effects)
    }

    /// Ends a talkspurt because of a decision of the room.
    mutating func interruptTalk(at index: Int, _ reason: TalkEnd, now: Instant, into effects: inout [Effect]) {
        guard let end = tracks[at: index].talk.cutOff(now: now) else { return }
        let info = tracks[at: index].info
        send(.talkStopped(info.participant, info.sid, at: end, reason: reason), to: everyone, into: &effects)
    }

    /// Whether the track's gate is open.
    func isOpen(_ track: Track) -> Bool {
        roster.index(of: track.publisher).map { track.gate(by: roster[at: $0]) } == .open
    }

    /// The same, in place: avoids a copy of the track.
    mutating func isOpen(trackAt index: Int) -> Bool {
        guard let publisher = roster.index(of: tracks[at: index].publisher) else { return false }
        return tracks[at: index].gate(by: roster[at: publisher]) == .open
    }
}

extension Room {
    /// Applies level measurements to active speakers and silence detection.
    mutating func measure(_ measurements: [TrackMeasurement], at now: Instant, into effects: inout [Effect]) {
        for measurement in measurements {
            // A window measured before a mute may arrive after it.
            guard let track = tracks.index(of: measurement.track), isOpen(trackAt: track) else { continue }
            speakers.take(measurement, at: now)
            guard measurement.loudestLevel < Limits.silenceLevel, let publisher = roster.index(of: tracks[at: track].publisher)
            else { continue }
            roster[at: publisher].silence.soundDetected(at: now)
            wakeUp.include(roster[at: publisher].silence.deadline)
        }
        sendSpeakerChanges(at: now, into: &effects)
    }

    mutating func sendSpeakerChanges(at now: Instant, into effects: inout [Effect]) {
        let changes = speakers.changes(at: now)
        if !changes.isEmpty { send(.speakersChanged(changes), to: everyone, into: &effects) }
        wakeUp.include(speakers.deadline)
    }

    /// Runs silence detection while a participant has an audible track.
    mutating func watchSilence(ofParticipantAt index: Int, at now: Instant) {
        let isAudible = roster[at: index].tracks.contains { sid in tracks[sid].map(isOpen) ?? false }
        if isAudible {
            roster[at: index].silence.start(at: now)
            wakeUp.include(roster[at: index].silence.deadline)
        } else {
            roster[at: index].silence.stop()
        }
    }

    /// Updates a participant's connection quality and reports a change of level.
    mutating func judge(_ handle: ParticipantHandle, by measurement: ConnectionMeasurement, into effects: inout [Effect]) {
        guard let index = roster.index(of: handle), let level = roster[at: index].quality.take(measurement) else { return }
        let participant = roster[at: index]
        send(.qualityChanged(participant.identity, level), to: audience(of: participant), into: &effects)
    }
}

/// Recording. The room decides and announces it; shards copy the frames.
extension Room {
    /// What the recorder needs to know of a track.
    package struct RecordingTap: Sendable, Hashable {
        package var recording: RecordingID
        package var track: TrackInfo
        package var room: Snapshot
    }

    mutating func startRecording(into effects: inout [Effect]) {
        guard recording == nil else { return }
        let id = identifiers.recording()
        recording = id
        send(.recordingStarted(id), to: everyone, into: &effects)
        tell(.recordingStarted(id), into: &effects)
        for track in tracks.values { tap(track, into: &effects) }
    }

    /// - Parameter id: nil stops any recording.
    mutating func stopRecording(_ id: RecordingID?, _ end: RecordingEnd, into effects: inout [Effect]) {
        guard let current = recording, id == nil || id == current else { return }
        for track in tracks.values { untap(track, into: &effects) }
        recording = nil
        send(.recordingStopped(current, end), to: everyone, into: &effects)
        tell(.recordingStopped(current, end), into: &effects)
    }

    /// Copies the track's frames from now on, if the room is being recorded.
    func tap(_ track: Track, into effects: inout [Effect]) {
        guard let recording else { return }
        let order = RecordingTap(recording: recording, track: track.info, room: snapshot)
        emit(.tap(order, by: track.publisher), into: &effects)
    }

    /// Must come before the patch is removed.
    func untap(_ track: Track, into effects: inout [Effect]) {
        if recording != nil { emit(.untap(track.info, by: track.publisher), into: &effects) }
    }
}
