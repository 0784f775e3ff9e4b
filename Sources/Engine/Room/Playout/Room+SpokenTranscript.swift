import Wire

/// What an assistant said, and how much of it was heard.
extension Room {
    /// An utterance was heard to its end: what later clears do has nothing to do with its words.
    mutating func settleTranscript(of track: Track, upTo heard: HeardPosition) {
        guard let time = heard.playedTs.map(MediaTime.init(ticks:)) else { return }
        let isMeant = isSpoken(on: track)
        transcript.settle(upTo: time, where: isMeant)
    }

    /// Tells everybody, the assistant too, how much of its words was heard when its track was cleared.
    mutating func cutTranscript(
        of track: Track, by clear: Playout.Clear, heard: MediaTime?, at now: Instant, into effects: inout [Effect]
    ) {
        let cut = Transcript.Interruption(heard: heard, furthest: clear.furthest, first: clear.first, end: clear.end)
        cutTranscript(of: track, cut, at: now, into: &effects)
    }

    /// The same where the track has ended in the middle of what was spoken on it.
    mutating func cutTranscript(of track: Track, _ cut: Transcript.Interruption, at now: Instant, into effects: inout [Effect]) {
        let isMeant = isSpoken(on: track)
        for segment in transcript.cut(cut, where: isMeant) {
            send(.segment(segment), to: readers(among: everyone), into: &effects)
            recordTranscript(segment, at: now, into: &effects)
        }
    }

    /// Whether a segment tells what is spoken on that track: it says so, or does not say and its participant has no other.
    private func isSpoken(on track: Track) -> (TranscriptSegment) -> Bool {
        let info = track.info
        let hasOther = tracks.values.contains {
            $0.info.participant == info.participant && $0.info.mode == .ahead && $0.info.sid != info.sid
        }
        return { segment in
            guard segment.role == .assistant, segment.participant == info.participant else { return false }
            return segment.track.map { $0 == info.sid } ?? !hasOther
        }
    }
}
