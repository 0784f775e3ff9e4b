import Wire

extension Room {
    mutating func beginTalk(on sid: TrackSID, at start: MediaTime, now: Instant, into effects: inout [Effect]) {
        // What is muted or held does not talk, whatever its meter still reports.
        guard let index = tracks.index(of: sid), isOpen(tracks[at: index]) else { return }
        guard tracks[at: index].talk.begin(at: start, now: now) else { return }
        // What is sent ahead is metered before it is heard: its own queue tells when.
        if tracks[at: index].info.mode == .live { tracks[at: index].anchor = (start, now) }
        send(.talkStarted(tracks[at: index].info.participant, sid, at: start), to: everyone, into: &effects)
    }

    mutating func endTalk(on sid: TrackSID, at end: MediaTime, _ reason: TalkEnd, into effects: inout [Effect]) {
        guard let index = tracks.index(of: sid), let end = tracks[at: index].talk.end(at: end) else { return }
        send(.talkStopped(tracks[at: index].info.participant, sid, at: end, reason: reason), to: everyone, into: &effects)
    }

    /// Ends a talkspurt because of what the room decided.
    mutating func interruptTalk(at index: Int, _ reason: TalkEnd, now: Instant, into effects: inout [Effect]) {
        guard let end = tracks[at: index].talk.cutOff(now: now) else { return }
        let info = tracks[at: index].info
        send(.talkStopped(info.participant, info.sid, at: end, reason: reason), to: everyone, into: &effects)
    }

    /// Its frames are let through.
    func isOpen(_ track: Track) -> Bool {
        members.index(of: track.publisher).map { track.gate(by: members[at: $0]) } == .open
    }

    /// The same; mutating, so that it is looked at where it is.
    mutating func isOpen(trackAt index: Int) -> Bool {
        guard let publisher = members.index(of: tracks[at: index].publisher) else { return false }
        return tracks[at: index].gate(by: members[at: publisher]) == .open
    }
}
