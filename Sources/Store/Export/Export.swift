package import Foundation
internal import Wire

/// A session in a form for download.
package struct Export: Sendable {
    let session: Session
    let summary: Summary?
    /// Oldest first.
    let turns: [Turn]
    let words: ExportWords
    private let locale: Locale
    private let timeZone: TimeZone

    /// - Parameters:
    ///   - turns: in any order.
    ///   - timeZone: of dates and times for display.
    package init(session: Session, summary: Summary?, turns: [Turn], timeZone: TimeZone = .gmt) {
        // Headings exist in a few languages; the others get English.
        let locale = session.language ?? "en"
        self.session = session
        self.summary = summary
        // The sort is stable: turns with equal times keep their order.
        self.turns = turns.sorted { $0.timestamp < $1.timestamp }
        self.locale = Locale(identifier: locale)
        self.timeZone = timeZone
        words = ExportWords(locale: locale)
    }

    /// - Parameter settings: of the session's user.
    package init(_ record: SessionRecord, _ settings: UserSettings) {
        self.init(
            session: record.session, summary: record.summary, turns: record.turns,
            timeZone: settings.timeZone.flatMap(TimeZone.init(iana:)) ?? .gmt)
    }

    /// - Throws: `failed` if a PDF cannot be written.
    package func file(as format: ExportFormat) async throws(StoreError) -> ExportFile {
        switch format {
        case .txt: ExportFile(bytes: Array(text.utf8))
        case .json: ExportFile(bytes: ExportRecord(self).bytes)
        case .vtt: ExportFile(bytes: Array(Cue.webVTT(cues.apart, title: title, words: words).utf8))
        case .srt: ExportFile(bytes: Array(Cue.subRip(cues.apart, words: words).utf8))
        case .pdf: try await pdf()
        }
    }

    /// Only letters, digits, dots and hyphens, so it needs no quoting in a header field.
    package func fileName(as format: ExportFormat) -> String {
        let day = Date(timeIntervalSince1970: Double(session.startedAt.milliseconds) / 1_000).formatted(
            Date.ISO8601FormatStyle(timeZone: timeZone).year().month().day())
        return "session-\(day)-\(session.id.text.prefix(8)).\(format.rawValue)"
    }

    var title: String { summary?.content.title ?? words.conversation }

    var cues: [Cue] { Cue.all(of: turns, from: session.startedAt) }

    /// Date, time and duration for display.
    var date: String {
        let style = Date.FormatStyle(date: .long, time: .shortened, locale: locale, timeZone: timeZone)
        func formatted(_ time: WallTime) -> String {
            // ICU puts narrow no-break spaces before "PM", which few fonts have.
            Date(timeIntervalSince1970: Double(time.milliseconds) / 1_000).formatted(style).replacing("\u{202F}", with: " ")
        }
        guard let end = session.endedAt else { return formatted(session.startedAt) }
        let minutes = max(1, (end.milliseconds - session.startedAt.milliseconds + 30_000) / 60_000)
        return "\(formatted(session.startedAt)) · \(minutes) min"
    }
}

/// An exported session.
package struct ExportFile: Sendable, Hashable {
    package var bytes: [UInt8]
    /// ISO 15924 codes (`Hang`, `Thai`) of scripts for which no installed font has all glyphs: their text is drawn as boxes in the PDF, and can be
    /// copied and searched all the same.
    package var scriptsWithoutFont: [String] = []
}

/// A file format of exports.
package enum ExportFormat: String, Sendable, CaseIterable {
    case txt, json, vtt, srt, pdf

    package var contentType: String {
        switch self {
        case .txt: "text/plain; charset=utf-8"
        case .json: "application/json"
        case .vtt: "text/vtt; charset=utf-8"
        case .srt: "application/x-subrip; charset=utf-8"
        case .pdf: "application/pdf"
        }
    }
}

/// Headings of exports, and what summaries do not quote, in the session's language.
struct ExportWords: Sendable {
    var conversation = "Conversation"
    var summary = "Summary"
    var actionItems = "Action items"
    var tags = "Tags"
    var transcript = "Transcript"
    var user = "You"
    var assistant = "Assistant"
    var noTurns = "No transcript was kept of this conversation."
    var emptyConversation = "Empty conversation"
    var nothingSaid = "Nothing was said."
    let language: String

    /// - Parameter locale: BCP 47; only the language is used.
    init(locale: String) {
        let asked = String(locale.prefix { $0.isLetter }).lowercased()
        switch asked {
        case "de":
            (conversation, summary, actionItems, tags, transcript) = (
                "Gespräch", "Zusammenfassung", "Aufgaben", "Schlagwörter", "Mitschrift"
            )
            (user, assistant, noTurns) = ("Du", "Assistent", "Von diesem Gespräch gibt es keine Mitschrift.")
            (emptyConversation, nothingSaid) = ("Gespräch ohne Worte", "Es wurde nichts gesagt.")
        case "fr":
            (conversation, summary, actionItems, tags, transcript) = ("Conversation", "Résumé", "À faire", "Mots-clés", "Transcription")
            (user, assistant, noTurns) = ("Vous", "Assistant", "Aucune transcription de cette conversation n’a été conservée.")
            (emptyConversation, nothingSaid) = ("Conversation vide", "Rien n’a été dit.")
        case "es":
            (conversation, summary, actionItems, tags, transcript) = ("Conversación", "Resumen", "Tareas", "Etiquetas", "Transcripción")
            (user, assistant, noTurns) = ("Tú", "Asistente", "No se guardó ninguna transcripción de esta conversación.")
            (emptyConversation, nothingSaid) = ("Conversación vacía", "No se dijo nada.")
        default:
            language = "en"
            return
        }
        language = asked
    }

    func name(of speaker: Turn.Speaker) -> String {
        speaker == .user ? user : assistant
    }
}

extension Export {
    /// Plain text.
    var text: String {
        var text = "\(title)\n\(date)\n"
        if let content = summary?.content {
            text += "\n\(words.summary)\n\(content.summaryText)\n"
            if !content.actionItems.isEmpty {
                text += "\n\(words.actionItems)\n" + content.actionItems.map { "- \($0)\n" }.joined()
            }
            if !content.tags.isEmpty { text += "\n\(words.tags): \(content.tags.joined(separator: ", "))\n" }
        }
        text += "\n\(words.transcript)\n"
        if cues.isEmpty { text += "\(words.noTurns)\n" }
        for cue in cues { text += "[\(cue.clock)] \(words.name(of: cue.speaker)): \(cue.text)\n" }
        return text
    }
}

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
