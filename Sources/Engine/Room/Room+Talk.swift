import Wire

extension Room {
    mutating func beginTalk(on sid: TrackSID, at start: MediaTime, now: Instant, into effects: inout [Effect]) {
        // What is muted or held does not talk, whatever its meter still reports.
        guard let place = tracks.place(of: sid), isOpen(tracks[at: place]) else { return }
        guard tracks[at: place].talk.begin(at: start, now: now) else { return }
        // What is sent ahead is metered before it is heard: its own queue tells when.
        if tracks[at: place].info.mode == .live { tracks[at: place].anchor = (start, now) }
        send(.talkStarted(tracks[at: place].info.participant, sid, at: start), to: everyone, into: &effects)
    }

    mutating func endTalk(on sid: TrackSID, at end: MediaTime, _ reason: TalkEnd, into effects: inout [Effect]) {
        guard let place = tracks.place(of: sid), let end = tracks[at: place].talk.end(at: end) else { return }
        send(.talkStopped(tracks[at: place].info.participant, sid, at: end, reason: reason), to: everyone, into: &effects)
    }

    /// Ends a talkspurt because of what the room decided.
    mutating func cutOffTalk(at place: Int, _ reason: TalkEnd, now: Instant, into effects: inout [Effect]) {
        guard let end = tracks[at: place].talk.cutOff(now: now) else { return }
        let info = tracks[at: place].info
        send(.talkStopped(info.participant, info.sid, at: end, reason: reason), to: everyone, into: &effects)
    }

    /// Its frames are let through.
    func isOpen(_ track: Track) -> Bool {
        members.place(of: track.publisher).map { track.gate(by: members[at: $0]) } == .open
    }

    /// The same; mutating, so that it is looked at where it is.
    mutating func isOpen(trackAt place: Int) -> Bool {
        guard let publisher = members.place(of: tracks[at: place].publisher) else { return false }
        return tracks[at: place].gate(by: members[at: publisher]) == .open
    }
}
