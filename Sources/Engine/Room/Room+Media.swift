package import Wire

extension Room {
    /// Changes of the patch panels (forwarding tables).
    package enum PatchChange: Sendable, Hashable {
        case publish(TrackInfo, by: ParticipantHandle)
        /// Also ends all subscriptions to the track; no `unsubscribe` follows.
        case unpublish(TrackAlias, by: ParticipantHandle)
        /// The publisher has a new handle; the subscribers stay the same.
        case move(TrackInfo, from: ParticipantHandle, to: ParticipantHandle, Gate, subscribers: [ParticipantHandle])
        /// A gate that is not open drops all frames.
        case gate(TrackAlias, by: ParticipantHandle, Gate)
        /// Drop the unreleased frames of an `ahead` track and reject older epochs. The publisher's shard answers with
        /// `PlayoutQueueReport.cleared`.
        case clear(TrackAlias, by: ParticipantHandle, epoch: UInt8)
        /// Retain frames of an `ahead` track from this time on, for subscribers that resume; nil if no subscriber needs any.
        case retain(TrackAlias, by: ParticipantHandle, from: MediaTime?)
        case subscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle, SubscriptionOptions)
        case unsubscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle)
    }

    package enum Gate: Sendable, Hashable {
        case open, muted, held
    }

    /// How a subscriber receives a track.
    package struct SubscriptionOptions: Sendable, Hashable {
        package var mode: TrackMode
        package var epoch: UInt8
        /// Media time at which to continue an `ahead` track; nil for the current position.
        package var from: MediaTime?
        /// Milliseconds of audio per frame, as published.
        package var frameMilliseconds: Double
        /// Subscription number, assigned by the room; distinguishes replies to an earlier subscription of the same subscriber.
        /// Wraps.
        package var number: UInt32

        package init(
            mode: TrackMode = .live, epoch: UInt8 = 0, from: MediaTime? = nil, frameMilliseconds: Double = 20, number: UInt32 = 0
        ) {
            self.mode = mode
            self.epoch = epoch
            self.from = from
            self.frameMilliseconds = frameMilliseconds
            self.number = number
        }
    }
}

extension Room {
    /// Publishes a track. Subscriptions follow the event that announces it, and the reply comes last, so that frames sent at once
    /// reach all subscribers.
    mutating func publish(
        _ description: PublishTrack, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
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

        patch(.publish(info, by: participant.handle), into: &effects)
        let gate = track.gate(by: participant)
        if gate != .open { patch(.gate(info.alias, by: participant.handle, gate), into: &effects) }
        send(.trackPublished(info), to: members.handles(except: participant.handle), into: &effects)
        for subscriber in members.participants where subscriber.isSubscribed(to: track) {
            subscribe(subscriber.handle, to: track, into: &effects)
        }
        reply(.published(info), to: requester, into: &effects)
        tap(track, into: &effects)
        audit(.published(info, by: participant.sid), into: &effects)
        watchSilence(ofParticipantAt: index, at: now)
    }

    mutating func unpublish(_ sid: TrackSID, by requester: Requester, now: Instant, into effects: inout [Effect]) throws(RequestError) {
        guard let track = tracks[sid] else { throw .noSuchTrack }
        guard track.publisher == requester.handle else { throw RequestError(.notAllowed, "only the publisher of a track can unpublish it") }
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
        for index in 0..<members.count where members[at: index].subscriptionOverrides[sid] != nil {
            members[at: index].subscriptionOverrides[sid] = nil
        }
        if let publisher = members.index(of: track.publisher) {
            members[at: publisher].tracks.removeAll { $0 == sid }
            watchSilence(ofParticipantAt: publisher, at: now)
        }
        send(.trackUnpublished(sid, of: track.info.participant), to: everyone, into: &effects)
        audit(.unpublished(track.info, by: track.publisherSID), into: &effects)
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
            throw RequestError(.invalidArgument, "a participant cannot subscribe to its own track")
        }
        guard members[at: index].permission.canSubscribe || !subscribed else {
            throw RequestError(.notAllowed, "the token does not allow subscribing")
        }
        // The reply comes first: no frame may overtake it.
        reply(to: requester, into: &effects)
        updateSubscriptions(index, at: now, into: &effects) { $0.subscriptionOverrides[sid] = subscribed }
    }

    /// - Parameter from: media time at which to continue an `ahead` track; nil for the current position.
    mutating func subscribe(_ subscriber: ParticipantHandle, to track: Track, from: MediaTime? = nil, into effects: inout [Effect]) {
        let (mode, epoch, frameMs) = (track.info.mode, track.info.epoch, track.info.frameMs)
        let number = tracks.nextSubscriptionNumber()
        let options = SubscriptionOptions(mode: mode, epoch: epoch, from: from, frameMilliseconds: frameMs, number: number)
        patch(.subscribe(subscriber, to: track.info.alias, of: track.publisher, options), into: &effects)
    }

    /// Applies a change to a participant and patches the subscriptions that differ afterwards.
    mutating func updateSubscriptions(_ index: Int, at now: Instant, into effects: inout [Effect], by change: (inout Participant) -> Void) {
        let before = members[at: index]
        change(&members[at: index])
        let after = members[at: index]
        for track in tracks.values {
            switch (before.isSubscribed(to: track), after.isSubscribed(to: track)) {
            case (false, true):
                subscribe(after.handle, to: track, into: &effects)
            case (true, false):
                patch(.unsubscribe(after.handle, to: track.info.alias, of: track.publisher), into: &effects)
                removeProgress(of: after.identity, on: track.info.sid, at: now, into: &effects)
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
            guard members[at: index].isRoomAdmin else {
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
        guard let index = tracks.index(of: sid), let publisher = members.index(of: tracks[at: index].publisher) else { return }
        let before = tracks[at: index]
        let gate = before.gate(by: members[at: publisher])
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
        let gate = track.gate(by: members[at: publisher])
        guard gate != before else { return }
        patch(.gate(track.info.alias, by: track.publisher, gate), into: &effects)
    }

    /// Mutes all current and future tracks of a participant, or reverts that. Tracks keep their own mute state.
    mutating func silence(_ silenced: Bool, ofParticipantAt index: Int, at now: Instant, into effects: inout [Effect]) {
        let before = members[at: index]
        guard before.isMutedByAdmin != silenced else { return }
        members[at: index].isMutedByAdmin = silenced
        for track in before.tracks.compactMap({ tracks[$0] }) {
            updateGate(track.info.sid, ofParticipantAt: index, from: track.gate(by: before), into: &effects)
            if silenced, let index = tracks.index(of: track.info.sid) { stopTalk(at: index, now: now, into: &effects) }
        }
        send(
            silenced ? .callMuted(by: before.identity) : .callUnmuted(by: before.identity), to: members.audience(of: before), into: &effects
        )
        if silenced { sendSpeakerChanges(at: now, into: &effects) }
        watchSilence(ofParticipantAt: index, at: now)
    }

    /// Ends talk and speaker state of a track that was muted or held.
    mutating func stopTalk(at index: Int, now: Instant, into effects: inout [Effect]) {
        interruptTalk(at: index, .muted, now: now, into: &effects)
        let sid = tracks[at: index].info.sid
        tracks.speakers.resetLevel(of: sid)
        if let playout = tracks.playouts.index(of: sid) { tracks.playouts[at: playout].pause(at: now) }
    }
}

extension Room {
    /// Puts a participant on hold or resumes it. On hold it neither sends nor receives media; mutes and subscriptions are kept.
    ///
    /// - Parameter requester: nil if the command came from outside the room.
    mutating func hold(_ held: Bool, by requester: Requester?, at index: Int, now: Instant, into effects: inout [Effect]) {
        let before = members[at: index]
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
        send(held ? .callHeld(by: before.identity) : .callResumed(by: before.identity), to: members.audience(of: before), into: &effects)
        audit(.held(before.identity, held), into: &effects)
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
        members.index(of: track.publisher).map { track.gate(by: members[at: $0]) } == .open
    }

    /// The same, in place: avoids a copy of the track.
    mutating func isOpen(trackAt index: Int) -> Bool {
        guard let publisher = members.index(of: tracks[at: index].publisher) else { return false }
        return tracks[at: index].gate(by: members[at: publisher]) == .open
    }
}

extension Room {
    /// The active speakers as last sent to participants, loudest first.
    package var activeSpeakers: [Speaker] { tracks.speakers.active }

    /// Applies level measurements to active tracks.speakers and silence detection.
    mutating func measure(_ measurements: [TrackMeasurement], at now: Instant, into effects: inout [Effect]) {
        for measurement in measurements {
            // A window measured before a mute may arrive after it.
            guard let track = tracks.index(of: measurement.track), isOpen(trackAt: track) else { continue }
            tracks.speakers.update(with: measurement, at: now)
            guard measurement.loudestLevel < Limits.silenceLevel, let publisher = members.index(of: tracks[at: track].publisher)
            else { continue }
            members[at: publisher].silence.soundDetected(at: now)
            wakeUp.include(members[at: publisher].silence.deadline)
        }
        sendSpeakerChanges(at: now, into: &effects)
    }

    mutating func sendSpeakerChanges(at now: Instant, into effects: inout [Effect]) {
        let changes = tracks.speakers.changes(at: now)
        if !changes.isEmpty { send(.speakersChanged(changes), to: everyone, into: &effects) }
        wakeUp.include(tracks.speakers.deadline)
    }

    /// Runs silence detection while a participant has an audible track.
    mutating func watchSilence(ofParticipantAt index: Int, at now: Instant) {
        let isAudible = members[at: index].tracks.contains { sid in tracks[sid].map(isOpen) ?? false }
        if isAudible {
            members[at: index].silence.start(at: now)
            wakeUp.include(members[at: index].silence.deadline)
        } else {
            members[at: index].silence.stop()
        }
    }

    /// Updates a participant's connection quality and reports a change of level.
    mutating func updateQuality(of handle: ParticipantHandle, by measurement: ConnectionMeasurement, into effects: inout [Effect]) {
        guard let index = members.index(of: handle), let level = members[at: index].quality.update(with: measurement) else { return }
        let participant = members[at: index]
        send(.qualityChanged(participant.identity, level), to: members.audience(of: participant), into: &effects)
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

    mutating func startRecording(into effects: inout [Effect]) {
        guard recording == nil else { return }
        let id = identifiers.recording()
        recording = id
        send(.recordingStarted(id), to: everyone, into: &effects)
        audit(.recordingStarted(id), into: &effects)
        for track in tracks.values { tap(track, into: &effects) }
    }

    /// - Parameter id: nil stops any recording.
    mutating func stopRecording(_ id: RecordingID?, _ end: RecordingEnd, into effects: inout [Effect]) {
        guard let current = recording, id == nil || id == current else { return }
        for track in tracks.values { untap(track, into: &effects) }
        recording = nil
        send(.recordingStopped(current, end), to: everyone, into: &effects)
        audit(.recordingStopped(current, end), into: &effects)
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
