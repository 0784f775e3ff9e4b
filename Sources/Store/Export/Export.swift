package import Foundation

/// A user's own record of a session, to take away.
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
    ///   - locale: BCP 47, for headings and dates; English where we know no better.
    package init(session: Session, summary: Summary?, turns: [Turn], locale: String = "en", timeZone: TimeZone = .gmt) {
        self.session = session
        self.summary = summary
        // The sort is stable: what has one time stays in its order.
        self.turns = turns.sorted { $0.timestamp < $1.timestamp }
        self.locale = Locale(identifier: locale)
        self.timeZone = timeZone
        words = ExportWords(locale: locale)
    }

    /// - Throws: `failed` if a PDF cannot be written.
    package func file(as format: ExportFormat) async throws(StoreError) -> ExportFile {
        switch format {
        case .txt: ExportFile(bytes: Array(text.utf8))
        case .json: ExportFile(bytes: ExportRecord(self).bytes)
        case .vtt: ExportFile(bytes: Array(Cue.webVTT(cues, title: title, words: words).utf8))
        case .srt: ExportFile(bytes: Array(Cue.subRip(cues, words: words).utf8))
        case .pdf: try await pdf()
        }
    }

    /// Of letters, digits, points and hyphens only, so that it can stand in a header field as it is.
    package func fileName(as format: ExportFormat) -> String {
        "session-\(session.startedAt.description.prefix(10))-\(session.id.text.prefix(8)).\(format.rawValue)"
    }

    var title: String { summary?.content.title ?? words.conversation }

    var cues: [Cue] { Cue.all(of: turns, from: session.startedAt) }

    /// When it was, for people.
    var date: String {
        let style = Date.FormatStyle(date: .long, time: .shortened, locale: locale, timeZone: timeZone)
        func formatted(_ time: WallTime) -> String {
            // ICU puts narrow spaces before "PM", which few fonts have.
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
