internal import Wire

/// The assistant's transcript segments and their revisions. A pure value.
///
/// A turn has one segment, and one more after each interruption that it survived. The gateway revises segments as well, when speech is cleared.
struct TranscriptRevisions: Sendable {
    /// Distinguishes the segments of this pipeline from those of an earlier assistant in the room.
    let prefix: String
    private var latest: [String: TranscriptSegment] = [:]
    private var segments: [TurnID: String] = [:]
    /// The latest report of each turn in progress.
    private var reports: [TurnID: Int] = [:]

    init(prefix: String = String(UInt32.random(in: 0 ... .max), radix: 36)) {
        self.prefix = prefix
    }

    /// The next revision of a turn's segment; after an interruption, the last one of the segment before it comes first. Nothing for a report
    /// that a later one has overtaken.
    mutating func segments(of turn: TurnID, _ progress: SpeechProgress, track: TrackSID?, language: String) -> [TranscriptSegment] {
        guard progress.number > reports[turn] ?? 0 else { return [] }
        reports[turn] = progress.number
        let id = "a\(turn.value)-\(progress.part)-\(prefix)"
        var revisions: [TranscriptSegment] = []
        if let before = segments[turn], before != id, let last = finish(before) { revisions.append(last) }
        let before = latest[id]
        var segment = TranscriptSegment(
            id: id, rev: before?.rev ?? 0, role: .assistant, track: track, text: progress.text,
            final: progress.isComplete,
            language: language, startTs: progress.start?.ticks, endTs: progress.end?.ticks, words: progress.words)
        segments[turn] = id
        if segment == before { return revisions }
        if before != nil { segment.rev += 1 }
        latest[id] = segment
        return revisions + [segment]
    }

    /// The room has a new revision of a segment.
    ///
    /// - Returns: false if the segment is not one of this pipeline, which the gateway then has revised.
    mutating func revised(_ segment: TranscriptSegment) -> Bool {
        guard segment.id.hasSuffix(prefix) else { return false }
        if let known = latest[segment.id]?.rev { latest[segment.id]?.rev = max(known, segment.rev) }
        return true
    }

    /// The last revision of a turn that was spoken completely.
    mutating func complete(_ turn: TurnID) -> TranscriptSegment? {
        reports[turn] = nil
        guard var segment = segments.removeValue(forKey: turn).flatMap({ finish($0) }) else { return nil }
        segment.spoken = .completed
        segment.spokenChars = segment.text.unicodeScalars.count
        return segment
    }

    /// The last revision of an abandoned turn: its text is final, and the gateway has set how much of it was heard.
    mutating func abandon(_ turn: TurnID) -> TranscriptSegment? {
        reports[turn] = nil
        return segments.removeValue(forKey: turn).flatMap { finish($0) }
    }

    private mutating func finish(_ id: String) -> TranscriptSegment? {
        guard var segment = latest.removeValue(forKey: id) else { return nil }
        // The gateway may have used the next number for a clear that is not known here yet.
        segment.rev += 2
        segment.final = true
        return segment
    }
}
