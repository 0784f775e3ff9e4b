package import Wire

extension Room {
    /// Publishes a track. Subscriptions follow the event that announces it, and the reply comes last, so that frames sent at once
    /// reach all subscribers.
    mutating func publish(_ description: PublishTrack, by requester: Requester, at index: Int) throws(RequestError) {
        let participant = members[at: index]
        try description.check()
        guard !participant.isHidden else { throw RequestError(.notAllowed, "a hidden participant cannot publish") }
        guard participant.permission.allows(description.source) else {
            throw RequestError(.notAllowed, "the token does not allow publishing a track of source \(description.source.rawValue)")
        }
        guard participant.tracks.count < Limits.tracksPerParticipantMax else {
            throw RequestError(.limitExceeded, "\(Limits.tracksPerParticipantMax) tracks are published already; unpublish one first")
        }
        guard let track = tracks.publish(description, as: identifiers.track(), by: participant, at: now) else {
            throw RequestError(.limitExceeded, "the room has no track alias left; try again later", retryable: true)
        }
        let info = track.info
        members[at: index].tracks.append(info.sid)

        patch(.publish(info, by: participant.handle))
        let gate = track.gate(by: participant)
        if gate != .open { patch(.gate(info.alias, by: participant.handle, gate)) }
        keepSpeech(of: track)
        send(.trackPublished(info), to: members.handles(except: participant.handle))
        for subscriber in members.participants where subscriber.isSubscribed(to: track) {
            subscribe(subscriber.handle, to: track)
        }
        reply(.published(info), to: requester)
        tap(track)
        audit(.published(info, by: participant.sid))
        watchSilence(ofParticipantAt: index)
    }

    mutating func unpublish(_ sid: TrackSID, by requester: Requester) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher == requester.handle else { throw RequestError(.notAllowed, "only the publisher of a track can unpublish it") }
        untap(track)
        patch(.unpublish(track.info.alias, by: requester.handle))
        reply(to: requester)
        removeTrack(sid)
        sendSpeakerChanges()
    }

    /// Removes a track whose patch is gone already, and notifies everybody. Subscriptions ended with the patch.
    mutating func removeTrack(_ sid: TrackSID) {
        endPlayout(of: sid)
        guard let index = tracks.index(of: sid) else { return }
        interruptTalk(at: index, .left)
        guard let track = tracks.remove(sid) else { return }
        awaited.remove(track: sid)
        for index in 0..<members.count where members[at: index].subscriptionOverrides[sid] != nil {
            members[at: index].subscriptionOverrides[sid] = nil
        }
        if let publisher = members.index(of: track.publisher) {
            members[at: publisher].tracks.removeAll { $0 == sid }
            watchSilence(ofParticipantAt: publisher)
        }
        send(.trackUnpublished(sid, of: track.info.participant), to: everyone)
        audit(.unpublished(track.info, by: track.publisherSID))
        playoutEnded(ofAgent: track.publisher)
    }
}

extension RequestError {
    static let noSuchTrack = RequestError(.notFound, "no such track in the room; it may have been unpublished")
}

extension Room {
    /// Stores a subscription even while it cannot take effect (on hold).
    mutating func subscribe(_ requester: Requester, at index: Int, to sid: TrackSID, _ subscribed: Bool) throws(RequestError) {
        try checkSubscription(of: members[at: index], to: sid, subscribed)
        // The reply comes first: no frame may overtake it.
        reply(to: requester)
        updateSubscriptions(index) { $0.subscriptionOverrides[sid] = subscribed }
        if subscribed { noteSubscribed(requester.handle) }
    }

    /// Unsubscribing needs no grant.
    func checkSubscription(of participant: Participant, to sid: TrackSID, _ subscribed: Bool) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher != participant.handle else {
            throw RequestError(.invalidArgument, "a participant cannot subscribe to its own track")
        }
        guard participant.permission.canSubscribe || !subscribed else {
            throw RequestError(.notAllowed, "the token does not allow subscribing")
        }
    }

    /// - Parameter from: media time at which to continue an `ahead` track; nil for the current position.
    mutating func subscribe(_ subscriber: ParticipantHandle, to track: Track, from: MediaTime? = nil) {
        let (mode, epoch, frameMs) = (track.info.mode, track.info.epoch, track.info.frameMs)
        let number = tracks.nextSubscriptionNumber()
        let options = SubscriptionOptions(
            mode: mode, epoch: epoch, from: from, frameMilliseconds: frameMs, number: number,
            earlier: earlierSpeech(of: track, for: subscriber))
        patch(.subscribe(subscriber, to: track.info.alias, of: track.publisher, options))
    }

    /// Applies a change to a participant and patches the subscriptions that differ afterwards.
    mutating func updateSubscriptions(_ index: Int, by change: (inout Participant) -> Void) {
        let before = members[at: index]
        change(&members[at: index])
        let after = members[at: index]
        for track in tracks.values {
            switch (before.isSubscribed(to: track), after.isSubscribed(to: track)) {
            case (false, true):
                subscribe(after.handle, to: track)
            case (true, false):
                patch(.unsubscribe(after.handle, to: track.info.alias, of: track.publisher))
                removeProgress(of: after.identity, on: track.info.sid)
            default: break
            }
        }
    }

    mutating func mute(_ sid: TrackSID, _ muted: Bool, by requester: Requester, at index: Int) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        if track.publisher != requester.handle {
            guard members[at: index].isRoomAdmin else {
                throw RequestError(.notAllowed, "only a room admin may mute somebody else's track")
            }
            // As in LiveKit: nobody else can unmute a microphone.
            guard muted else { throw RequestError(.notAllowed, "remote unmute not enabled") }
        }
        setMuted(muted, sid, answering: requester)
    }

    /// Mutes or unmutes a track. If nothing changes, only the request is answered.
    mutating func setMuted(_ muted: Bool, _ sid: TrackSID, answering requester: Requester? = nil) {
        guard let index = tracks.index(of: sid), let publisher = members.index(of: tracks[at: index].publisher) else { return }
        let before = tracks[at: index]
        let gate = before.gate(by: members[at: publisher])
        tracks[at: index].info.muted = muted
        if before.info.muted != muted { updateGate(sid, ofParticipantAt: publisher, from: gate) }
        if let requester { reply(to: requester) }
        guard before.info.muted != muted else { return }
        if muted { stopTalk(at: index) }
        let identity = before.info.participant
        send(muted ? .trackMuted(sid, of: identity) : .trackUnmuted(sid, of: identity), to: everyone)
        if muted { sendSpeakerChanges() }
        watchSilence(ofParticipantAt: publisher)
    }

    /// Patches the gate of a track if it differs from before.
    mutating func updateGate(_ sid: TrackSID, ofParticipantAt publisher: Int, from before: Gate) {
        guard let track = tracks[sid] else { return }
        let gate = track.gate(by: members[at: publisher])
        guard gate != before else { return }
        patch(.gate(track.info.alias, by: track.publisher, gate))
    }

    /// Mutes all current and future tracks of a participant, or reverts that. Tracks keep their own mute state.
    mutating func silence(_ silenced: Bool, ofParticipantAt index: Int) {
        let before = members[at: index]
        guard before.isMutedByAdmin != silenced else { return }
        members[at: index].isMutedByAdmin = silenced
        for track in before.tracks.compactMap({ tracks[$0] }) {
            updateGate(track.info.sid, ofParticipantAt: index, from: track.gate(by: before))
            if silenced, let index = tracks.index(of: track.info.sid) { stopTalk(at: index) }
        }
        send(silenced ? .callMuted(by: before.identity) : .callUnmuted(by: before.identity), to: members.audience(of: before))
        if silenced { sendSpeakerChanges() }
        watchSilence(ofParticipantAt: index)
    }

    /// Ends talk and speaker state of a track that was muted or held.
    mutating func stopTalk(at index: Int) {
        interruptTalk(at: index, .muted)
        let sid = tracks[at: index].info.sid
        tracks.speakers.resetLevel(of: sid)
        if let playout = tracks.playouts.index(of: sid) { tracks.playouts[at: playout].pause(at: now) }
    }

    /// Puts a participant on hold or resumes it. On hold it neither sends nor receives media; mutes and subscriptions are kept.
    ///
    /// - Parameter requester: nil if the command came from outside the room.
    mutating func hold(_ held: Bool, by requester: Requester?, at index: Int) {
        let before = members[at: index]
        guard before.isHeld != held else {
            if let requester { reply(to: requester) }
            return
        }
        updateSubscriptions(index) { $0.isHeld = held }
        for sid in before.tracks {
            if let track = tracks[sid] { updateGate(sid, ofParticipantAt: index, from: track.gate(by: before)) }
        }
        if let requester { reply(to: requester) }
        if held {
            for sid in before.tracks {
                if let track = tracks.index(of: sid) { stopTalk(at: track) }
            }
        }
        send(held ? .callHeld(by: before.identity) : .callResumed(by: before.identity), to: members.audience(of: before))
        audit(.held(before.identity, held))
        if held { sendSpeakerChanges() }
        watchSilence(ofParticipantAt: index)
    }

    mutating func beginTalk(on sid: TrackSID, at start: MediaTime) {
        // A muted or held track does not talk, even if its meter still reports it.
        guard let index = tracks.index(of: sid), isOpen(tracks[at: index]) else { return }
        guard tracks[at: index].talk.begin(at: start, now: now) else { return }
        // An `ahead` track is metered before it plays; its queue reports the playout time.
        if tracks[at: index].info.mode == .live { tracks[at: index].anchor = (start, now) }
        send(.talkStarted(tracks[at: index].info.participant, sid, at: start), to: everyone)
    }

    mutating func endTalk(on sid: TrackSID, at end: MediaTime, _ reason: TalkEnd) {
        guard let index = tracks.index(of: sid), let end = tracks[at: index].talk.end(at: end) else { return }
        send(.talkStopped(tracks[at: index].info.participant, sid, at: end, reason: reason), to: everyone)
    }

    /// Ends a talkspurt because of a decision of the room.
    mutating func interruptTalk(at index: Int, _ reason: TalkEnd) {
        guard let end = tracks[at: index].talk.cutOff(now: now) else { return }
        let info = tracks[at: index].info
        send(.talkStopped(info.participant, info.sid, at: end, reason: reason), to: everyone)
    }

    /// Whether the track's gate is open.
    func isOpen(_ track: Track) -> Bool {
        members.index(of: track.publisher).map { track.gate(by: members[at: $0]) } == .open
    }

    /// The same, in place: avoids a copy of the track.
    mutating func isOpen(trackAt index: Int) -> Bool {
        guard let publisher = members.index(of: tracks[at: index].publisher) else { return false }
        return tracks[at: index].gate(by: members[at: publisher]) == .open
    }

    /// The active speakers as last sent to participants, loudest first.
    package var activeSpeakers: [Speaker] { tracks.speakers.active }

    /// Applies level measurements to active tracks.speakers and silence detection.
    mutating func measure(_ measurements: [TrackMeasurement]) {
        for measurement in measurements {
            // A window measured before a mute may arrive after it.
            guard let track = tracks.index(of: measurement.track), isOpen(trackAt: track) else { continue }
            tracks.speakers.update(with: measurement, at: now)
            guard measurement.loudestLevel < Limits.silenceLevel, let publisher = members.index(of: tracks[at: track].publisher)
            else { continue }
            members[at: publisher].silence.soundDetected(at: now)
            wakeUp.include(members[at: publisher].silence.deadline)
        }
        sendSpeakerChanges()
    }

    mutating func sendSpeakerChanges() {
        let changes = tracks.speakers.changes(at: now)
        if !changes.isEmpty { send(.speakersChanged(changes), to: everyone) }
        wakeUp.include(tracks.speakers.deadline)
    }

    /// Runs silence detection while a participant has an audible track.
    mutating func watchSilence(ofParticipantAt index: Int) {
        let isAudible = members[at: index].tracks.contains { sid in tracks[sid].map(isOpen) ?? false }
        if isAudible {
            members[at: index].silence.start(at: now)
            wakeUp.include(members[at: index].silence.deadline)
        } else {
            members[at: index].silence.stop()
        }
    }

    /// Updates a participant's connection quality and reports a change of level.
    mutating func updateQuality(of handle: ParticipantHandle, by measurement: ConnectionMeasurement) {
        guard let index = members.index(of: handle), let level = members[at: index].quality.update(with: measurement) else { return }
        let participant = members[at: index]
        send(.qualityChanged(participant.identity, level), to: members.audience(of: participant))
    }
}

/// Recording. The room decides and announces it; shards copy the frames.
extension Room {
    /// The parameters with which a track is recorded.
    package struct RecordingTap: Sendable, Hashable {
        package var recording: RecordingID
        package var track: TrackInfo
        package var room: Snapshot
    }

    mutating func startRecording() {
        guard recording == nil else { return }
        let id = identifiers.recording()
        recording = id
        send(.recordingStarted(id), to: everyone)
        audit(.recordingStarted(id))
        for track in tracks.values { tap(track) }
    }

    /// - Parameter id: nil stops any recording.
    mutating func stopRecording(_ id: RecordingID?, _ end: RecordingEnd) {
        guard let current = recording, id == nil || id == current else { return }
        for track in tracks.values { untap(track) }
        recording = nil
        send(.recordingStopped(current, end), to: everyone)
        audit(.recordingStopped(current, end))
    }

    /// Copies the track's frames from now on, if the room is being recorded.
    mutating func tap(_ track: Track) {
        guard let recording, !members.isRestored(track.publisher) else { return }
        let order = RecordingTap(recording: recording, track: track.info, room: snapshot)
        emit(.tap(order, by: track.publisher))
    }

    /// Must come before the patch is removed.
    mutating func untap(_ track: Track) {
        if recording != nil, !members.isRestored(track.publisher) { emit(.untap(track.info, by: track.publisher)) }
    }
}
