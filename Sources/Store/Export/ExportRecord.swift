internal import Wire

/// A session as JSON, with the field names of the HTTP API.
struct ExportRecord: Encodable {
    private let export: Export

    init(_ export: Export) {
        self.export = export
    }

    var bytes: [UInt8] {
        // Encoding only throws for infinite numbers, which do not occur.
        (try? JSON.encode(self, names: .asDeclared)) ?? []
    }

    private enum Key: String, CodingKey {
        case session, summary, turns
    }

    private enum SessionKey: String, CodingKey {
        case id, context, language
        case assistantID = "assistant_id"
        case startedAt = "started_at"
        case endedAt = "ended_at"
        case summaryStatus = "summary_status"
    }

    func encode(to encoder: any Encoder) throws {
        var record = encoder.container(keyedBy: Key.self)
        var session = record.nestedContainer(keyedBy: SessionKey.self, forKey: .session)
        try session.encode(export.session.id, forKey: .id)
        try session.encode(export.session.context, forKey: .context)
        try session.encodeIfPresent(export.session.assistantID, forKey: .assistantID)
        try session.encodeIfPresent(export.session.language, forKey: .language)
        try session.encode(export.session.startedAt, forKey: .startedAt)
        try session.encode(export.session.endedAt, forKey: .endedAt)
        try session.encode(export.session.summaryStatus, forKey: .summaryStatus)
        try record.encode(export.summary.map(SummaryRecord.init), forKey: .summary)
        try record.encode(export.turns.map(TurnRecord.init), forKey: .turns)
    }
}

private struct SummaryRecord: Encodable {
    let summary: Summary

    private enum Key: String, CodingKey {
        case id, title, tags
        case text = "summary_text"
        case actionItems = "action_items"
        case createdAt = "created_at"
    }

    func encode(to encoder: any Encoder) throws {
        var record = encoder.container(keyedBy: Key.self)
        try record.encode(summary.id, forKey: .id)
        try record.encode(summary.content.title, forKey: .title)
        try record.encode(summary.content.summaryText, forKey: .text)
        try record.encode(summary.content.actionItems, forKey: .actionItems)
        try record.encode(summary.content.tags, forKey: .tags)
        try record.encode(summary.createdAt, forKey: .createdAt)
    }
}

private struct TurnRecord: Encodable {
    let turn: Turn

    private enum Key: String, CodingKey {
        case id, timestamp, speaker, text
        case audioRef = "audio_ref"
        case durationMs = "duration_ms"
    }

    func encode(to encoder: any Encoder) throws {
        var record = encoder.container(keyedBy: Key.self)
        try record.encode(turn.id, forKey: .id)
        try record.encode(turn.timestamp, forKey: .timestamp)
        try record.encode(turn.speaker, forKey: .speaker)
        try record.encode(turn.text, forKey: .text)
        try record.encodeIfPresent(turn.audioRef, forKey: .audioRef)
        try record.encodeIfPresent(turn.durationMs, forKey: .durationMs)
    }
}
